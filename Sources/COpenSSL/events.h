#ifndef HOUSEHOLD_CEPOLL_EVENTS_H
#define HOUSEHOLD_CEPOLL_EVENTS_H
// What the event loop waits with; Swift's own Glibc module leaves these two headers out.

#include <sys/epoll.h>
#include <sys/eventfd.h>

#endif
