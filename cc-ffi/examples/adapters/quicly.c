/* Any algorithm of the library as a quicly_cc_type_t: see docs/quicly.md, also for the lines that quicly itself needs.
 *
 * quicly counts milliseconds, the library nanoseconds. quicly never tells a controller that its connection has ended, so that its state
 * has to lie in quicly_cc_t itself (`state.ccffi`).
 */
#include "quicly/cc.h"
#include "quicly.h"

#include "cc_ffi.h"
#include "ccffi_quicly.h"

#include <string.h>

static uint64_t nanos(int64_t millis)
{
    return millis > 0 ? (uint64_t)millis * 1000000 : 0;
}

static ccffi_path_state path_state(const quicly_cc_t *cc, const quicly_loss_t *loss, int64_t now, uint64_t next_pn)
{
    ccffi_path_state path = {0};
    const struct st_ccffi_quicly_t *s = &cc->state.ccffi;
    path.now = nanos(now);
    path.bytes_in_flight = path.prior_bytes_in_flight = loss->sentmap.bytes_in_flight;
    /* 1-RTT, Handshake and Initial packets of quicly share one sequence of numbers. */
    path.next_number = next_pn;
    (void)ccffi_rate_totals(&s->rate, &path.delivered, &path.lost, &path.app_limited);
    if (loss->rtt.latest != 0) {
        path.latest_rtt = nanos(loss->rtt.latest);
        path.smoothed_rtt = nanos(loss->rtt.smoothed);
        path.min_rtt = nanos(loss->rtt.minimum);
        path.rtt_var = nanos(loss->rtt.variance);
        path.has = CCFFI_PATH_HAS_RTT;
    }
    path.max_datagram_size = s->datagram;
    return path;
}

/* What quicly reads by itself. The pacing rate: ccffi_quicly_pacing_rate. */
static void apply(quicly_cc_t *cc)
{
    uint64_t cwnd = ccffi_get_cwnd(&cc->state.ccffi.controller);
    cc->cwnd = cwnd < UINT32_MAX ? (uint32_t)cwnd : UINT32_MAX;
    if (cc->cwnd_maximum < cc->cwnd)
        cc->cwnd_maximum = cc->cwnd;
    if (cc->cwnd_minimum > cc->cwnd)
        cc->cwnd_minimum = cc->cwnd;
}

static void update_datagram(quicly_cc_t *cc, const quicly_loss_t *loss, int64_t now, uint64_t next_pn, uint32_t datagram)
{
    struct st_ccffi_quicly_t *s = &cc->state.ccffi;
    if (datagram != 0 && datagram != s->datagram) {
        ccffi_path_state path;
        s->datagram = datagram;
        path = path_state(cc, loss, now, next_pn);
        (void)ccffi_on_mtu_update(&s->controller, &path, CCFFI_MTU_CHANGE_DISCOVERED);
    }
}

/* The delivery state that packets sent from `next_pn` on have: it changes with ACKs only. A point of every 1/32 RTT is kept. */
static void remember(struct st_ccffi_quicly_t *s, const quicly_loss_t *loss, int64_t now, uint64_t next_pn)
{
    struct st_ccffi_quicly_point_t *point;
    if (s->num_points != 0 && now - s->last_point_at <= loss->rtt.smoothed / 32)
        return;
    point = &s->points[s->num_points++ % CCFFI_QUICLY_POINTS];
    s->last_point_at = now;
    point->next_pn = next_pn;
    (void)ccffi_rate_on_sent(&s->rate, nanos(now), loss->sentmap.bytes_in_flight, loss->sentmap.bytes_in_flight + s->datagram,
                             &point->snapshot);
}

/* The newest point before the packet; 0 if it is forgotten. */
static const ccffi_packet_snapshot *recall(const struct st_ccffi_quicly_t *s, uint64_t pn)
{
    uint64_t i;
    for (i = s->num_points; i > 0 && s->num_points - i < CCFFI_QUICLY_POINTS; --i) {
        const struct st_ccffi_quicly_point_t *point = &s->points[(i - 1) % CCFFI_QUICLY_POINTS];
        if (point->next_pn <= pn)
            return &point->snapshot;
    }
    return NULL;
}

static void on_acked(quicly_cc_t *cc, const quicly_loss_t *loss, uint32_t bytes, uint64_t largest_acked, uint32_t inflight,
                     int cc_limited, uint64_t next_pn, int64_t now, uint32_t max_udp_payload_size)
{
    struct st_ccffi_quicly_t *s = &cc->state.ccffi;
    ccffi_path_state path;
    ccffi_rtt rtt = {0};
    ccffi_acked_packet packet = {0};
    ccffi_ack ack = {0};
    const ccffi_packet_snapshot *snapshot;
    uint8_t given = 0;

    update_datagram(cc, loss, now, next_pn, max_udp_payload_size);
    packet.number = largest_acked;
    packet.sent_at = nanos(now - loss->rtt.latest);
    packet.bytes = bytes;
    packet.has = CCFFI_ACKED_HAS_NUMBER;
    if ((snapshot = recall(s, largest_acked)) != NULL) {
        packet.snapshot = *snapshot;
        packet.has |= CCFFI_ACKED_HAS_SNAPSHOT;
    }
    (void)ccffi_rate_on_acked(&s->rate, nanos(now), &packet);
    (void)ccffi_rate_finish_frame(&s->rate, nanos(now), &ack.rate_sample, &given);
    if (given)
        ack.has |= CCFFI_ACK_HAS_RATE_SAMPLE;

    path = path_state(cc, loss, now, next_pn);
    path.prior_bytes_in_flight = inflight;
    rtt.latest = path.latest_rtt; /* without the ack delay */
    rtt.is_sample = 1;
    rtt.is_first = !s->acked;
    s->acked = 1;
    (void)ccffi_on_rtt(&s->controller, &path, &rtt);

    ack.max_bytes_in_flight = inflight;
    ack.newest_data_sent_at = packet.sent_at;
    ack.has |= CCFFI_ACK_HAS_NEWEST_DATA_SENT_AT;
    ack.limited_by = cc_limited ? CCFFI_SEND_LIMIT_CWND : CCFFI_SEND_LIMIT_NO_DATA;
    (void)ccffi_on_ack(&s->controller, &path, &ack, &packet, 1);
    remember(s, loss, now, next_pn);
    apply(cc);
}

/* One packet, or a CE mark if `bytes` is 0. */
static void on_lost(quicly_cc_t *cc, const quicly_loss_t *loss, uint32_t bytes, uint64_t lost_pn, uint64_t next_pn, int64_t now,
                    uint32_t max_udp_payload_size)
{
    struct st_ccffi_quicly_t *s = &cc->state.ccffi;
    ccffi_snapshot before = {0}, after = {0};
    ccffi_path_state path;

    update_datagram(cc, loss, now, next_pn, max_udp_payload_size);
    path = path_state(cc, loss, now, next_pn);
    (void)ccffi_get_snapshot(&s->controller, &before);
    if (bytes == 0) {
        ccffi_ecn_event ecn = {0};
        ecn.largest_acked = lost_pn;
        ecn.largest_acked_sent_at = nanos(now - loss->rtt.latest);
        ecn.has = CCFFI_ECN_HAS_LARGEST_ACKED; /* how many marks is not told */
        (void)ccffi_on_ecn(&s->controller, &path, &ecn);
    } else {
        ccffi_lost_packet packet = {0};
        ccffi_loss event = {0};
        packet.number = lost_pn;
        packet.sent_at = nanos(now - loss->rtt.latest); /* not told; the number counts */
        packet.bytes = bytes;
        packet.has = CCFFI_LOST_HAS_NUMBER;
        (void)ccffi_on_loss(&s->controller, &path, &event, &packet, 1);
        (void)ccffi_rate_on_lost(&s->rate, bytes);
    }
    s->last_lost_pn = lost_pn;
    (void)ccffi_get_snapshot(&s->controller, &after);
    if (after.congestion_events != before.congestion_events) {
        ++cc->num_loss_episodes;
        if (bytes == 0)
            ++cc->num_ecn_loss_episodes;
        if (cc->cwnd_exiting_slow_start == 0) {
            cc->cwnd_exiting_slow_start = cc->cwnd;
            cc->exit_slow_start_at = now;
        }
    }
    apply(cc);
}

static void on_persistent_congestion(quicly_cc_t *cc, const quicly_loss_t *loss, int64_t now)
{
    struct st_ccffi_quicly_t *s = &cc->state.ccffi;
    ccffi_path_state path = path_state(cc, loss, now, s->last_lost_pn + 1);
    ccffi_lost_packet packet = {0};
    ccffi_loss event = {0};
    packet.number = s->last_lost_pn;
    packet.bytes = 1; /* told before */
    packet.has = CCFFI_LOST_HAS_NUMBER;
    event.persistent_congestion = 1;
    (void)ccffi_on_loss(&s->controller, &path, &event, &packet, 1);
    apply(cc);
}

static void on_sent(quicly_cc_t *cc, const quicly_loss_t *loss, uint32_t bytes, int64_t now)
{
    /* Without the number of the packet there is no event; every other one carries the state. */
    (void)cc, (void)loss, (void)bytes, (void)now;
}

/* Bytes per millisecond to pace at, for calc_pacer_send_rate; 0 if the algorithm does not pace, or is none of these. */
uint32_t ccffi_quicly_pacing_rate(const quicly_cc_t *cc)
{
    uint64_t rate;
    if (cc->type->cc_on_acked != on_acked)
        return 0;
    rate = ccffi_get_pacing_rate(&cc->state.ccffi.controller);
    if (rate == CCFFI_UNPACED)
        return 0;
    rate = rate / 1000 + 1;
    return rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
}

static void start(quicly_cc_t *cc, quicly_cc_type_t *type, uint32_t algorithm, uint32_t initcwnd, int64_t now)
{
    struct st_ccffi_quicly_t *s = &cc->state.ccffi;
    ccffi_setup setup = {0};
    ccffi_outputs out = {0};

    memset(cc, 0, sizeof(*cc));
    cc->type = type;
    cc->cwnd_initial = initcwnd;
    cc->ssthresh = cc->cwnd_minimum = UINT32_MAX;
    cc->exit_slow_start_at = INT64_MAX;
    quicly_cc_jumpstart_reset(cc);
    s->datagram = 1200; /* until the first event names it */
    setup.now = nanos(now);
    setup.seed = setup.now;
    setup.max_datagram_size = s->datagram;
    setup.initial_window = initcwnd;
    setup.ecn = CCFFI_ECN_ECT0;
    setup.has = CCFFI_SETUP_HAS_INITIAL_WINDOW;
    /* The algorithm exists and the memory is large enough: this does not fail. */
    (void)ccffi_controller_init(&s->controller, sizeof(s->controller), CCFFI_ABI_VERSION, algorithm, &setup);
    (void)ccffi_get_outputs(&s->controller, &out);
    (void)ccffi_rate_init(&s->rate, sizeof(s->rate), CCFFI_ABI_VERSION, out.sampling_rule, out.min_ack_interval);
    apply(cc);
    cc->cwnd_maximum = cc->cwnd;
}

/* One line per algorithm. */
#define CCFFI_QUICLY(algorithm_name, number)                                                                                       \
    extern quicly_cc_type_t ccffi_quicly_type_##algorithm_name;                                                                    \
    static void init_##algorithm_name(quicly_init_cc_t *self, quicly_cc_t *cc, uint32_t initcwnd, int64_t now)                     \
    {                                                                                                                              \
        (void)self;                                                                                                                \
        start(cc, &ccffi_quicly_type_##algorithm_name, number, initcwnd, now);                                                     \
    }                                                                                                                              \
    /* quicly asks the target: another algorithm's state can not be taken over */                                                  \
    static int switch_to_##algorithm_name(quicly_cc_t *cc)                                                                         \
    {                                                                                                                              \
        return cc->type == &ccffi_quicly_type_##algorithm_name;                                                                    \
    }                                                                                                                              \
    quicly_init_cc_t ccffi_quicly_##algorithm_name##_init = {init_##algorithm_name};                                               \
    quicly_cc_type_t ccffi_quicly_type_##algorithm_name = {                                                                        \
        "ccffi-" #algorithm_name, &ccffi_quicly_##algorithm_name##_init, on_acked, on_lost, on_persistent_congestion, on_sent,     \
        switch_to_##algorithm_name, NULL, NULL}

CCFFI_QUICLY(c4, CCFFI_ALGORITHM_C4);
CCFFI_QUICLY(cubic, CCFFI_ALGORITHM_CUBIC);
CCFFI_QUICLY(reno, CCFFI_ALGORITHM_RENO);
CCFFI_QUICLY(bbr, CCFFI_ALGORITHM_BBR);
