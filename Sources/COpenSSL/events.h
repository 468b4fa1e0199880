#ifndef HOUSEHOLD_CEPOLL_EVENTS_H
#define HOUSEHOLD_CEPOLL_EVENTS_H
// What the event loop waits with, and what gives memory back; Swift's own Glibc module leaves these headers out.

#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#endif
