/* Any algorithm of the library as an xqc_cong_ctrl_callback_t: see docs/xquic.md.
 *
 * Compiled against xquic's internal headers, like its own algorithms. xquic counts microseconds, the library nanoseconds.
 */
#include <xquic/xquic.h>

#include "src/common/xqc_time.h"
#include "src/congestion_control/xqc_sample.h"
#include "src/transport/xqc_conn.h"
#include "src/transport/xqc_packet_out.h"
#include "src/transport/xqc_send_ctl.h"

#include "cc_ffi.h"

#include <string.h>

/* xquic allocates it and hands it to every callback. */
typedef struct ccffi_xquic_s {
    ccffi_controller controller;
    xqc_send_ctl_t *ctl;
    uint32_t algorithm;
    unsigned rtt_samples;         /* that the controller has seen */
    xqc_usec_t lost_sent_time;    /* of the last loss */
    xqc_usec_t newest_data_sent;  /* of packets acked */
    /* The packets of the ACK that is being processed: xquic tells losses after acks, the library before. */
    uint64_t acked_bytes;
    uint32_t acked_packets;
    xqc_usec_t newest_sent;
} ccffi_xquic_t;

static uint64_t
nanos(xqc_usec_t micros)
{
    return micros * 1000;
}

static uint64_t
mss_of(const xqc_send_ctl_t *ctl)
{
    uint64_t mss = xqc_conn_get_mss(ctl->ctl_conn);
    return mss > 0 ? mss : 1200;
}

/* xquic counts lost packets, not bytes. Packet numbers are not used: losses come without. */
static ccffi_path_state
path_state(const xqc_send_ctl_t *ctl, xqc_usec_t now)
{
    ccffi_path_state path = {0};
    path.now = nanos(now);
    path.bytes_in_flight = ctl->ctl_bytes_in_flight;
    path.prior_bytes_in_flight = ctl->ctl_prior_bytes_in_flight;
    path.delivered = ctl->ctl_delivered;
    path.lost = ctl->ctl_lost_pkts_number * mss_of(ctl);
    if (ctl->ctl_first_rtt_sample_time != 0) {
        path.latest_rtt = nanos(ctl->ctl_latest_rtt);
        path.smoothed_rtt = nanos(ctl->ctl_srtt);
        path.min_rtt = nanos(ctl->ctl_minrtt);
        path.rtt_var = nanos(ctl->ctl_rttvar);
        path.has = CCFFI_PATH_HAS_RTT;
    }
    path.max_datagram_size = mss_of(ctl);
    path.app_limited = ctl->ctl_app_limited > 0;
    path.in_handshake = !xqc_conn_is_handshake_confirmed(ctl->ctl_conn);
    return path;
}

static size_t
ccffi_xquic_size(void)
{
    return sizeof(ccffi_xquic_t);
}

static void
start(ccffi_xquic_t *cc, xqc_send_ctl_t *ctl, xqc_cc_params_t params, uint32_t algorithm)
{
    ccffi_setup setup = {0};
    memset(cc, 0, sizeof(*cc));
    cc->ctl = ctl;
    cc->algorithm = algorithm;
    setup.now = nanos(xqc_monotonic_timestamp());
    setup.seed = setup.now;
    setup.max_datagram_size = mss_of(ctl);
    if (params.customize_on && params.init_cwnd > 0) { /* in packets */
        setup.initial_window = params.init_cwnd * setup.max_datagram_size;
        setup.has = CCFFI_SETUP_HAS_INITIAL_WINDOW;
    }
    /* The algorithm exists and the memory is large enough: this does not fail. */
    (void)ccffi_controller_init(&cc->controller, sizeof(cc->controller), CCFFI_ABI_VERSION, algorithm, &setup);
}

/* One packet of the ACK. Kept until xqc_cong_ctl_on_ack_multiple_pkts. */
static void
ccffi_xquic_on_ack(void *cong_ctl, xqc_packet_out_t *po, xqc_usec_t now)
{
    ccffi_xquic_t *cc = cong_ctl;
    (void)now;
    cc->acked_bytes += po->po_used_size;
    cc->acked_packets++;
    if (po->po_sent_time > cc->newest_sent)
        cc->newest_sent = po->po_sent_time;
    if ((po->po_frame_types & (XQC_FRAME_BIT_STREAM | XQC_FRAME_BIT_DATAGRAM))
        && po->po_sent_time > cc->newest_data_sent)
        cc->newest_data_sent = po->po_sent_time;
}

static void
tell_loss(ccffi_xquic_t *cc, uint64_t bytes, uint8_t persistent)
{
    ccffi_path_state path = path_state(cc->ctl, xqc_monotonic_timestamp());
    ccffi_lost_packet packet = {0};
    ccffi_loss loss = {0};
    packet.sent_at = nanos(cc->lost_sent_time);
    packet.bytes = bytes;
    /* xquic has counted them already. */
    path.lost -= bytes < path.lost ? bytes : path.lost;
    loss.persistent_congestion = persistent;
    (void)ccffi_on_loss(&cc->controller, &path, &loss, &packet, 1);
}

/* All losses of one detection, by the send time of the newest. How many they were is in the sampler. */
static void
ccffi_xquic_on_lost(void *cong_ctl, xqc_usec_t lost_sent_time)
{
    ccffi_xquic_t *cc = cong_ctl;
    uint64_t packets = cc->ctl->sampler.loss > 0 ? cc->ctl->sampler.loss : 1;
    cc->lost_sent_time = lost_sent_time;
    tell_loss(cc, packets * mss_of(cc->ctl), 0);
}

/* Persistent congestion; comes behind xqc_cong_ctl_on_lost of the same losses, so that one byte of them is enough. */
static void
ccffi_xquic_reset_cwnd(void *cong_ctl)
{
    tell_loss(cong_ctl, 1, 1);
}

/* The end of an ACK, with xquic's rate sample of it. */
static void
ccffi_xquic_on_ack_multiple_pkts(void *cong_ctl, xqc_sample_t *sampler)
{
    ccffi_xquic_t *cc = cong_ctl;
    const xqc_send_ctl_t *ctl = cc->ctl;
    ccffi_path_state path = path_state(ctl, sampler->now);
    ccffi_acked_packet packet = {0};
    ccffi_ack ack = {0};
    ccffi_rate_sample *sample = &ack.rate_sample;

    if (cc->acked_packets == 0)
        return;
    if (ctl->ctl_update_latest_rtt_count != cc->rtt_samples) {
        ccffi_rtt rtt = {0};
        rtt.latest = nanos(ctl->ctl_latest_rtt);
        rtt.is_sample = 1;
        rtt.is_first = cc->rtt_samples == 0;
        cc->rtt_samples = ctl->ctl_update_latest_rtt_count;
        (void)ccffi_on_rtt(&cc->controller, &path, &rtt);
    }

    packet.sent_at = nanos(cc->newest_sent);
    packet.bytes = cc->acked_bytes;
    packet.packets = cc->acked_packets;
    packet.has = CCFFI_ACKED_HAS_PACKETS;

    sample->sent_at = nanos(sampler->po_sent_time);
    sample->delivered = ctl->ctl_delivered;
    sample->send_interval = nanos(sampler->send_elapse);
    sample->ack_interval = nanos(sampler->ack_elapse);
    sample->snapshot.delivered = sampler->prior_delivered;
    sample->snapshot.delivered_at = nanos(sampler->prior_time);
    sample->snapshot.first_sent_at = sample->sent_at - sample->send_interval;
    sample->snapshot.lost = sampler->prior_lost * mss_of(ctl);
    sample->snapshot.bytes_in_flight = sampler->tx_in_flight;
    sample->snapshot.app_limited = sample->app_limited = sampler->is_app_limited != 0;
    sample->snapshot.has = CCFFI_PACKET_SNAPSHOT_HAS_DELIVERED_AT;
    sample->lost_since_sent = sampler->lost_pkts * mss_of(ctl);
    sample->newly_acked = cc->acked_bytes;
    sample->newly_lost = sampler->loss * mss_of(ctl);
    sample->moved_reference = 1;

    ack.has = CCFFI_ACK_HAS_RATE_SAMPLE;
    ack.max_bytes_in_flight = ctl->ctl_prior_bytes_in_flight;
    if (cc->newest_data_sent != 0) {
        ack.newest_data_sent_at = nanos(cc->newest_data_sent);
        ack.has |= CCFFI_ACK_HAS_NEWEST_DATA_SENT_AT;
    }
    ack.limited_by = ctl->ctl_is_cwnd_limited   ? CCFFI_SEND_LIMIT_CWND
                     : ctl->ctl_app_limited > 0 ? CCFFI_SEND_LIMIT_NO_DATA
                                                : CCFFI_SEND_LIMIT_UNKNOWN;
    (void)ccffi_on_ack(&cc->controller, &path, &ack, &packet, 1);
    cc->acked_bytes = 0;
    cc->acked_packets = 0;
    cc->newest_sent = 0;
}

/* `arg` is when the last packet in flight was sent. */
static void
ccffi_xquic_restart_from_idle(void *cong_ctl, uint64_t arg)
{
    ccffi_xquic_t *cc = cong_ctl;
    xqc_usec_t now = xqc_monotonic_timestamp();
    ccffi_path_state path = path_state(cc->ctl, now);
    if (arg != 0 && now > arg)
        (void)ccffi_on_idle_restart(&cc->controller, &path, nanos(now - arg));
}

/* xquic keeps windows and rates in 32 bits. */
static uint64_t
ccffi_xquic_get_cwnd(void *cong_ctl)
{
    uint64_t cwnd = ccffi_get_cwnd(&((ccffi_xquic_t *)cong_ctl)->controller);
    return cwnd < UINT32_MAX ? cwnd : UINT32_MAX;
}

static uint32_t
ccffi_xquic_get_pacing_rate(void *cong_ctl)
{
    uint64_t rate = ccffi_get_pacing_rate(&((ccffi_xquic_t *)cong_ctl)->controller);
    return rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
}

static uint32_t
ccffi_xquic_get_bandwidth(void *cong_ctl)
{
    ccffi_snapshot log = {0};
    (void)ccffi_get_snapshot(&((ccffi_xquic_t *)cong_ctl)->controller, &log);
    return log.bandwidth < UINT32_MAX ? (uint32_t)log.bandwidth : UINT32_MAX;
}

static int
ccffi_xquic_in_slow_start(void *cong_ctl)
{
    ccffi_snapshot log = {0};
    (void)ccffi_get_snapshot(&((ccffi_xquic_t *)cong_ctl)->controller, &log);
    return log.startup;
}

static int
ccffi_xquic_in_recovery(void *cong_ctl)
{
    ccffi_snapshot log = {0};
    (void)ccffi_get_snapshot(&((ccffi_xquic_t *)cong_ctl)->controller, &log);
    return strcmp(log.phase, "recovery") == 0;
}

/* One line per algorithm. Without xqc_cong_ctl_init_bbr, xquic calls on_ack, on_lost and on_ack_multiple_pkts. */
#define CCFFI_XQUIC(name, number)                                                                     \
    static void                                                                                       \
    ccffi_xquic_init_##name(void *cong_ctl, xqc_send_ctl_t *ctl, xqc_cc_params_t params)              \
    {                                                                                                 \
        start(cong_ctl, ctl, params, number);                                                         \
    }                                                                                                 \
    const xqc_cong_ctrl_callback_t ccffi_xquic_##name##_cb = {                                        \
        .xqc_cong_ctl_size = ccffi_xquic_size,                                                        \
        .xqc_cong_ctl_init = ccffi_xquic_init_##name,                                                 \
        .xqc_cong_ctl_on_lost = ccffi_xquic_on_lost,                                                  \
        .xqc_cong_ctl_on_ack = ccffi_xquic_on_ack,                                                    \
        .xqc_cong_ctl_get_cwnd = ccffi_xquic_get_cwnd,                                                \
        .xqc_cong_ctl_reset_cwnd = ccffi_xquic_reset_cwnd,                                            \
        .xqc_cong_ctl_in_slow_start = ccffi_xquic_in_slow_start,                                      \
        .xqc_cong_ctl_in_recovery = ccffi_xquic_in_recovery,                                          \
        .xqc_cong_ctl_restart_from_idle = ccffi_xquic_restart_from_idle,                              \
        .xqc_cong_ctl_on_ack_multiple_pkts = ccffi_xquic_on_ack_multiple_pkts,                        \
        .xqc_cong_ctl_get_pacing_rate = ccffi_xquic_get_pacing_rate,                                  \
        .xqc_cong_ctl_get_bandwidth_estimate = ccffi_xquic_get_bandwidth,                             \
    }

CCFFI_XQUIC(c4, CCFFI_ALGORITHM_C4);
CCFFI_XQUIC(cubic, CCFFI_ALGORITHM_CUBIC);
CCFFI_XQUIC(reno, CCFFI_ALGORITHM_RENO);
CCFFI_XQUIC(bbr, CCFFI_ALGORITHM_BBR);
