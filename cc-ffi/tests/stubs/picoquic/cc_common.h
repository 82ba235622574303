/* What the adapter uses of picoquic. */
#include "picoquic_internal.h"

uint64_t picoquic_cc_get_sequence_number(picoquic_cnx_t *cnx, picoquic_path_t *path_x);
uint64_t picoquic_cc_get_ack_number(picoquic_cnx_t *cnx, picoquic_path_t *path_x);
uint64_t picoquic_cc_get_ack_sent_time(picoquic_cnx_t *cnx, picoquic_path_t *path_x);
uint64_t picoquic_cc_get_lowest_not_ack(picoquic_path_t *path_x);
