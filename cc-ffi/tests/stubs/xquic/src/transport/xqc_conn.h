/* What the adapter uses of xquic. */
#include <xquic/xquic.h>

int32_t xqc_conn_is_handshake_confirmed(xqc_connection_t *conn);
size_t xqc_conn_get_mss(xqc_connection_t *conn);
