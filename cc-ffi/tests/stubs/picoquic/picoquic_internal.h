/* What the adapter uses of picoquic. */
#ifndef STUB_PICOQUIC_H
#define STUB_PICOQUIC_H
#include <stddef.h>
#include <stdint.h>

#define PICOQUIC_ECN_ECT_1 0x01
#define PICOQUIC_ECN_ECT_0 0x02

enum { picoquic_packet_context_application, picoquic_packet_context_handshake, picoquic_packet_context_initial };
enum { picoquic_state_ready = 18 };

typedef struct { uint64_t rate; } picoquic_pacing_t;

typedef struct {
    int cnx_state;
    uint64_t seed_rtt_min;
} picoquic_cnx_t;

typedef struct {
    picoquic_cnx_t *cnx;
    uint64_t ecn_ect0_total_remote, ecn_ect1_total_remote, ecn_ce_total_remote;
    uint64_t last_sent_time;
    unsigned int is_cc_data_updated : 1;
    unsigned int rtt_is_initialized : 1;
    uint64_t total_bytes_lost;
    uint64_t rtt_sample, smoothed_rtt, rtt_variant, rtt_min;
    size_t send_mtu;
    uint64_t delivered, delivered_last, delivered_limited_index, bandwidth_estimate;
    uint64_t cwin, bytes_in_transit;
    uint64_t last_sender_limited_time, last_time_acked_data_frame_sent;
    void *congestion_alg_state;
    picoquic_pacing_t pacing;
} picoquic_path_t;

typedef enum {
    picoquic_congestion_notification_acknowledgement,
    picoquic_congestion_notification_repeat,
    picoquic_congestion_notification_timeout,
    picoquic_congestion_notification_spurious_repeat,
    picoquic_congestion_notification_rtt_measurement,
    picoquic_congestion_notification_ecn_ec,
    picoquic_congestion_notification_cwin_blocked,
    picoquic_congestion_notification_seed_cwin,
    picoquic_congestion_notification_reset,
    picoquic_congestion_notification_lost_feedback,
    picoquic_congestion_notification_restart_from_idle
} picoquic_congestion_notification_t;

typedef struct {
    uint64_t rtt_measurement, send_delay, nb_bytes_acknowledged, nb_bytes_newly_lost;
    uint64_t nb_bytes_lost_since_packet_sent, nb_bytes_delivered_since_packet_sent, inflight_prior;
    uint64_t lost_packet_number, lost_packet_sent_time;
    int pc;
    unsigned int is_app_limited : 1;
} picoquic_per_ack_state_t;

typedef struct {
    char const *congestion_algorithm_id;
    uint8_t congestion_algorithm_number;
    uint8_t ecn_mark;
    void (*alg_init)(picoquic_path_t *, char const *, uint64_t);
    void (*alg_notify)(picoquic_cnx_t *, picoquic_path_t *, picoquic_congestion_notification_t, picoquic_per_ack_state_t *,
                       uint64_t);
    void (*alg_delete)(picoquic_path_t *);
    void (*alg_observe)(picoquic_path_t *, uint64_t *, uint64_t *);
} picoquic_congestion_algorithm_t;

void picoquic_pacing_init(picoquic_pacing_t *pacing, uint64_t current_time);
void picoquic_update_pacing_rate(picoquic_path_t *path_x, double pacing_rate, uint64_t quantum);

#endif
