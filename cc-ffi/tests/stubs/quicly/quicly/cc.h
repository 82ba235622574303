/* What the adapter uses of quicly, with the lines of docs/quicly.md added. */
#ifndef STUB_QUICLY_CC_H
#define STUB_QUICLY_CC_H
#include <stddef.h>
#include <stdint.h>
#include "ccffi_quicly.h"

typedef struct st_quicly_init_cc_t quicly_init_cc_t;
typedef const struct st_quicly_cc_type_t quicly_cc_type_t;

typedef struct {
    struct {
        uint32_t minimum, smoothed, variance, latest;
    } rtt;
    struct {
        size_t bytes_in_flight;
    } sentmap;
} quicly_loss_t;

typedef struct {
    quicly_cc_type_t *type;
    uint32_t cwnd, ssthresh, cwnd_initial, cwnd_exiting_slow_start, cwnd_minimum, cwnd_maximum;
    int64_t exit_slow_start_at;
    uint32_t num_loss_episodes, num_ecn_loss_episodes;
    struct {
        uint64_t enter_pn;
    } jumpstart;
    union {
        struct st_ccffi_quicly_t ccffi;
    } state;
} quicly_cc_t;

struct st_quicly_init_cc_t {
    void (*cb)(quicly_init_cc_t *self, quicly_cc_t *cc, uint32_t initcwnd, int64_t now);
};

struct st_quicly_cc_type_t {
    const char *name;
    quicly_init_cc_t *cc_init;
    void (*cc_on_acked)(quicly_cc_t *, const quicly_loss_t *, uint32_t, uint64_t, uint32_t, int, uint64_t, int64_t, uint32_t);
    void (*cc_on_lost)(quicly_cc_t *, const quicly_loss_t *, uint32_t, uint64_t, uint64_t, int64_t, uint32_t);
    void (*cc_on_persistent_congestion)(quicly_cc_t *, const quicly_loss_t *, int64_t);
    void (*cc_on_sent)(quicly_cc_t *, const quicly_loss_t *, uint32_t, int64_t);
    int (*cc_switch)(quicly_cc_t *);
    void (*cc_jumpstart)(quicly_cc_t *, uint32_t, uint64_t);
    void (*enable_rapid_start)(quicly_cc_t *, int64_t);
};

void quicly_cc_jumpstart_reset(quicly_cc_t *cc);
uint32_t ccffi_quicly_pacing_rate(const quicly_cc_t *cc);

#endif
