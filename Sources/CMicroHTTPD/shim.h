// libmicrohttpd: HTTP/1.1 for browsers, curl and Prometheus. Each function below stands for a variadic one, which
// Swift cannot call.
#ifndef MARTLET_CMICROHTTPD_H
#define MARTLET_CMICROHTTPD_H

#include <microhttpd.h>

/// What the project starts a listener with: `MHD_start_daemon` takes its options as a variadic list.
typedef struct {
    const struct sockaddr *address;
    MHD_AccessHandlerCallback on_access;
    MHD_RequestCompletedCallback on_completed;
    MHD_NotifyConnectionCallback on_connection;
    void *(*on_target)(void *context, const char *target, struct MHD_Connection *connection);
    void *context;
    size_t connection_memory;
    unsigned int connections;
    unsigned int idle_seconds;
} martlet_MHD_options;

static inline struct MHD_Daemon *martlet_MHD_start_daemon(unsigned int flags, const martlet_MHD_options *options) {
    return MHD_start_daemon(
        flags, 0, NULL, NULL, options->on_access, options->context,
        MHD_OPTION_SOCK_ADDR, options->address,
        MHD_OPTION_NOTIFY_COMPLETED, options->on_completed, options->context,
        MHD_OPTION_NOTIFY_CONNECTION, options->on_connection, options->context,
        MHD_OPTION_URI_LOG_CALLBACK, options->on_target, options->context,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory,
        MHD_OPTION_CONNECTION_LIMIT, options->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds,
        MHD_OPTION_END);
}

/// The socket of a connection; -1 when it cannot be told.
static inline int martlet_MHD_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// The port a listener is bound to; 0 when it cannot be told.
static inline unsigned int martlet_MHD_bound_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

#endif
