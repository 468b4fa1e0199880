#ifndef HOUSEHOLD_CEPOLL_EVENTS_H
#define HOUSEHOLD_CEPOLL_EVENTS_H
// What the event loop waits with, and what gives memory back; Swift's own Glibc module leaves these headers out.

#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// The kernel may be 50 us late with this thread's timers, to join them with others; this makes it exact. prctl is variadic.
static inline void household_exact_timers(void) { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

#endif
