/* Any algorithm of the library as a picoquic_congestion_algorithm_t: see docs/picoquic.md.
 *
 * Compiled against picoquic's internal headers, like its own algorithms. picoquic counts microseconds, the library nanoseconds.
 */
#include "picoquic_internal.h"

#include "cc_common.h"
#include "cc_ffi.h"

#include <stdlib.h>
#include <string.h>

/* The state of one path. */
struct ccffi_picoquic {
    ccffi_controller controller;
    uint32_t algorithm;
    int cwin_blocked; /* since the last ACK */
    int rtt_seen;
    uint64_t ect0, ect1, ce; /* counts of the last ECN event */
};

static uint64_t nanos(uint64_t micros)
{
    return micros * 1000;
}

static uint32_t space_of(int pc)
{
    switch (pc) {
    case picoquic_packet_context_initial:
        return CCFFI_SPACE_INITIAL;
    case picoquic_packet_context_handshake:
        return CCFFI_SPACE_HANDSHAKE;
    default:
        return CCFFI_SPACE_APPLICATION;
    }
}

/* Bytes in flight, totals and numbers are picoquic's own: there is no notification of a send. */
static ccffi_path_state path_state(picoquic_path_t *path_x, uint64_t current_time)
{
    ccffi_path_state path = {0};
    path.now = nanos(current_time);
    path.bytes_in_flight = path.prior_bytes_in_flight = path_x->bytes_in_transit;
    path.delivered = path_x->delivered;
    path.lost = path_x->total_bytes_lost;
    path.next_number = picoquic_cc_get_sequence_number(path_x->cnx, path_x);
    path.oldest_outstanding = picoquic_cc_get_lowest_not_ack(path_x);
    path.has = CCFFI_PATH_HAS_OLDEST_OUTSTANDING;
    if (path_x->rtt_is_initialized) {
        path.latest_rtt = nanos(path_x->rtt_sample);
        path.smoothed_rtt = nanos(path_x->smoothed_rtt);
        path.min_rtt = nanos(path_x->rtt_min);
        path.rtt_var = nanos(path_x->rtt_variant);
        path.has |= CCFFI_PATH_HAS_RTT;
    }
    path.max_datagram_size = path_x->send_mtu;
    path.app_limited = path_x->delivered_limited_index != 0;
    path.in_handshake = path_x->cnx->cnx_state < picoquic_state_ready;
    return path;
}

/* One function sets all outputs. */
static void apply(picoquic_path_t *path_x, const ccffi_controller *controller)
{
    ccffi_outputs out;
    if (ccffi_get_outputs(controller, &out) != CCFFI_STATUS_OK)
        return;
    path_x->cwin = out.cwnd;
    /* Without a rate picoquic sends as fast as its pacer starts: picoquic_pacing_init. */
    if (out.has & CCFFI_OUTPUTS_HAS_PACING_RATE)
        picoquic_update_pacing_rate(path_x, (double)out.pacing_rate, out.send_quantum);
    path_x->is_cc_data_updated = 1;
}

/* Increases of the counts since the last call, if there are any. */
static void tell_ecn(struct ccffi_picoquic *cc, picoquic_path_t *path_x, const ccffi_path_state *path)
{
    ccffi_ecn_event ecn = {0};
    ecn.ce = path_x->ecn_ce_total_remote - cc->ce;
    ecn.ect0 = path_x->ecn_ect0_total_remote - cc->ect0;
    ecn.ect1 = path_x->ecn_ect1_total_remote - cc->ect1;
    if (ecn.ce == 0 && ecn.ect0 == 0 && ecn.ect1 == 0)
        return;
    cc->ce = path_x->ecn_ce_total_remote;
    cc->ect0 = path_x->ecn_ect0_total_remote;
    cc->ect1 = path_x->ecn_ect1_total_remote;
    ecn.newly_acked = ecn.ce + ecn.ect0 + ecn.ect1;
    ecn.largest_acked = picoquic_cc_get_ack_number(path_x->cnx, path_x);
    ecn.largest_acked_sent_at = nanos(picoquic_cc_get_ack_sent_time(path_x->cnx, path_x));
    ecn.has = CCFFI_ECN_HAS_CE | CCFFI_ECN_HAS_ECT0 | CCFFI_ECN_HAS_ECT1 | CCFFI_ECN_HAS_NEWLY_ACKED |
              CCFFI_ECN_HAS_LARGEST_ACKED;
    ccffi_on_ecn(&cc->controller, path, &ecn);
}

/* All packets of the frame as one entry, and the rate sample that picoquic has taken for the frame. */
static void tell_ack(struct ccffi_picoquic *cc, picoquic_path_t *path_x, ccffi_path_state *path,
                     const picoquic_per_ack_state_t *state)
{
    ccffi_acked_packet packet = {0};
    ccffi_ack ack = {0};
    ccffi_rate_sample *sample = &ack.rate_sample;

    path->prior_bytes_in_flight += state->nb_bytes_acknowledged + state->nb_bytes_newly_lost;
    packet.bytes = state->nb_bytes_acknowledged;
    packet.space = space_of(state->pc);
    packet.sent_at = path->now - nanos(state->rtt_measurement);
    if (state->pc == picoquic_packet_context_application) {
        /* Packet numbers of one space serve as the numbers of the path. */
        packet.number = picoquic_cc_get_ack_number(path_x->cnx, path_x);
        packet.sent_at = nanos(picoquic_cc_get_ack_sent_time(path_x->cnx, path_x));
        packet.has = CCFFI_ACKED_HAS_NUMBER;
        sample->number = packet.number;
        sample->has = CCFFI_RATE_SAMPLE_HAS_NUMBER;
    }

    sample->sent_at = packet.sent_at;
    sample->delivered = path_x->delivered;
    sample->snapshot.delivered = path_x->delivered - state->nb_bytes_delivered_since_packet_sent;
    sample->snapshot.lost = path->lost - state->nb_bytes_lost_since_packet_sent;
    sample->snapshot.bytes_in_flight = state->inflight_prior + path_x->send_mtu;
    sample->snapshot.app_limited = sample->app_limited = (uint8_t)state->is_app_limited;
    sample->lost_since_sent = state->nb_bytes_lost_since_packet_sent;
    sample->newly_acked = state->nb_bytes_acknowledged;
    sample->newly_lost = state->nb_bytes_newly_lost;
    /* The frame gave an estimate if it moved picoquic's reference point. The interval is what the estimate was divided by. */
    if (path_x->delivered_last == path_x->delivered && path_x->bandwidth_estimate > 0) {
        sample->moved_reference = 1;
        sample->send_interval = nanos(state->send_delay);
        sample->ack_interval =
            state->nb_bytes_delivered_since_packet_sent * UINT64_C(1000000000) / path_x->bandwidth_estimate;
        sample->snapshot.delivered_at = path->now - sample->ack_interval;
        sample->snapshot.first_sent_at = packet.sent_at - sample->send_interval;
        sample->snapshot.has = CCFFI_PACKET_SNAPSHOT_HAS_DELIVERED_AT;
    }
    ack.has = CCFFI_ACK_HAS_RATE_SAMPLE;

    ack.max_bytes_in_flight = path->prior_bytes_in_flight;
    if (path_x->last_sender_limited_time != 0) {
        ack.app_limited_at = nanos(path_x->last_sender_limited_time);
        ack.has |= CCFFI_ACK_HAS_APP_LIMITED_AT;
    }
    if (path_x->last_time_acked_data_frame_sent != 0) {
        ack.newest_data_sent_at = nanos(path_x->last_time_acked_data_frame_sent);
        ack.has |= CCFFI_ACK_HAS_NEWEST_DATA_SENT_AT;
    }
    ack.limited_by = cc->cwin_blocked         ? CCFFI_SEND_LIMIT_CWND
                     : state->is_app_limited ? CCFFI_SEND_LIMIT_NO_DATA
                                             : CCFFI_SEND_LIMIT_UNKNOWN;
    cc->cwin_blocked = 0;
    ccffi_on_ack(&cc->controller, path, &ack, &packet, 1);
}

static void tell_loss(struct ccffi_picoquic *cc, ccffi_path_state *path, const picoquic_per_ack_state_t *state)
{
    ccffi_lost_packet packet = {0};
    ccffi_loss loss = {0};
    packet.space = space_of(state->pc);
    packet.sent_at = nanos(state->lost_packet_sent_time);
    packet.bytes = state->nb_bytes_newly_lost;
    if (state->pc == picoquic_packet_context_application) {
        packet.number = state->lost_packet_number;
        packet.has = CCFFI_LOST_HAS_NUMBER;
    }
    packet.snapshot.lost = path->lost - state->nb_bytes_lost_since_packet_sent;
    packet.snapshot.delivered = path->delivered - state->nb_bytes_delivered_since_packet_sent;
    packet.snapshot.bytes_in_flight = state->inflight_prior + packet.bytes;
    packet.snapshot.app_limited = (uint8_t)state->is_app_limited;
    packet.has |= CCFFI_LOST_HAS_SNAPSHOT;
    /* picoquic has counted the packet already. */
    path->lost -= packet.bytes < path->lost ? packet.bytes : path->lost;
    loss.cause = CCFFI_LOSS_CAUSE_ACK;
    ccffi_on_loss(&cc->controller, path, &loss, &packet, 1);
}

static ccffi_status start(struct ccffi_picoquic *cc, picoquic_path_t *path_x, uint64_t current_time)
{
    ccffi_setup setup = {0};
    setup.now = nanos(current_time);
    setup.max_datagram_size = path_x->send_mtu;
    setup.seed = current_time;
    setup.ecn = CCFFI_ECN_ECT1;
    return ccffi_controller_init(&cc->controller, sizeof cc->controller, CCFFI_ABI_VERSION, cc->algorithm, &setup);
}

static void init(picoquic_path_t *path_x, uint32_t algorithm, uint64_t current_time)
{
    struct ccffi_picoquic *cc = path_x->congestion_alg_state;
    if (cc == NULL)
        cc = malloc(sizeof *cc);
    if (cc != NULL) {
        memset(cc, 0, sizeof *cc);
        cc->algorithm = algorithm;
        cc->ect0 = path_x->ecn_ect0_total_remote;
        cc->ect1 = path_x->ecn_ect1_total_remote;
        cc->ce = path_x->ecn_ce_total_remote;
        if (start(cc, path_x, current_time) != CCFFI_STATUS_OK) {
            free(cc);
            cc = NULL;
        }
    }
    path_x->congestion_alg_state = cc;
    if (cc != NULL)
        apply(path_x, &cc->controller);
}

static void notify(picoquic_cnx_t *cnx, picoquic_path_t *path_x, picoquic_congestion_notification_t notification,
                   picoquic_per_ack_state_t *state, uint64_t current_time)
{
    struct ccffi_picoquic *cc = path_x->congestion_alg_state;
    ccffi_path_state path;
    if (cc == NULL)
        return;
    path = path_state(path_x, current_time);
    switch (notification) {
    case picoquic_congestion_notification_ecn_ec:
        tell_ecn(cc, path_x, &path);
        break;
    case picoquic_congestion_notification_rtt_measurement: {
        ccffi_rtt rtt = {0};
        /* Frames without CE have no notification of their own. */
        tell_ecn(cc, path_x, &path);
        rtt.latest = nanos(state->rtt_measurement); /* without the ack delay */
        rtt.space = space_of(state->pc);
        rtt.is_sample = 1;
        rtt.is_first = !cc->rtt_seen;
        cc->rtt_seen = 1;
        ccffi_on_rtt(&cc->controller, &path, &rtt);
        break;
    }
    case picoquic_congestion_notification_repeat:
        tell_loss(cc, &path, state);
        break;
    case picoquic_congestion_notification_acknowledgement:
        tell_ack(cc, path_x, &path, state);
        break;
    case picoquic_congestion_notification_spurious_repeat: {
        ccffi_spurious_loss packet = {0};
        packet.bytes = path_x->send_mtu; /* not told */
        if (state->pc == picoquic_packet_context_application) {
            packet.number = state->lost_packet_number;
            packet.has = CCFFI_SPURIOUS_LOSS_HAS_NUMBER;
            ccffi_on_spurious_loss(&cc->controller, &path, &packet);
        }
        break;
    }
    case picoquic_congestion_notification_seed_cwin:
        ccffi_on_resume_hint(&cc->controller, &path, state->nb_bytes_acknowledged, nanos(cnx->seed_rtt_min));
        break;
    case picoquic_congestion_notification_restart_from_idle:
        ccffi_on_idle_restart(&cc->controller, &path, nanos(current_time - path_x->last_sent_time));
        break;
    case picoquic_congestion_notification_cwin_blocked:
        cc->cwin_blocked = 1;
        return;
    case picoquic_congestion_notification_reset:
        picoquic_pacing_init(&path_x->pacing, current_time);
        start(cc, path_x, current_time);
        break;
    case picoquic_congestion_notification_timeout:       /* a probe timeout is no event (RFC 9002 section 7.5) */
    case picoquic_congestion_notification_lost_feedback: /* nothing in RFC 9002 */
    default:
        return;
    }
    apply(path_x, &cc->controller);
}

static void delete_state(picoquic_path_t *path_x)
{
    free(path_x->congestion_alg_state);
    path_x->congestion_alg_state = NULL;
}

static void observe(picoquic_path_t *path_x, uint64_t *cc_state, uint64_t *cc_param)
{
    struct ccffi_picoquic *cc = path_x->congestion_alg_state;
    ccffi_snapshot log = {0};
    if (cc != NULL)
        ccffi_get_snapshot(&cc->controller, &log);
    *cc_state = log.congestion_events;
    *cc_param = log.bandwidth;
}

/* One line per algorithm: name in picoquic, number, ECN codepoint. */
#define CCFFI_PICOQUIC(name, number, ecn)                                                                 \
    static void init_##name(picoquic_path_t *path_x, char const *option_string, uint64_t current_time)    \
    {                                                                                                     \
        (void)option_string;                                                                              \
        init(path_x, number, current_time);                                                               \
    }                                                                                                     \
    picoquic_congestion_algorithm_t ccffi_picoquic_##name = {                                             \
        "ccffi_" #name, 200 + number, ecn, init_##name, notify, delete_state, observe}

CCFFI_PICOQUIC(c4, CCFFI_ALGORITHM_C4, PICOQUIC_ECN_ECT_1);
CCFFI_PICOQUIC(cubic, CCFFI_ALGORITHM_CUBIC, PICOQUIC_ECN_ECT_0);
CCFFI_PICOQUIC(reno, CCFFI_ALGORITHM_RENO, PICOQUIC_ECN_ECT_0);
CCFFI_PICOQUIC(bbr, CCFFI_ALGORITHM_BBR, 0); /* asks for no ECN */
