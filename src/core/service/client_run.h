/*
 * service/client_run.h
 *		Internals of a client: its run.
 *
 * client.c opens and ends runs and has the messages, client_input.c hands out extents for
 * input, client_poll.c does what follows submit.
 */
#ifndef MGPU_SERVICE_CLIENT_RUN_H
#define MGPU_SERVICE_CLIENT_RUN_H

#include "core/service/client.h"
#include "core/service/copier.h"

typedef enum run_state
{
	RUN_OPENING = 0,
	RUN_FILLING,
	RUN_SENDING,
	RUN_AWAITING,
	RUN_DONE,
	RUN_FAILED
} run_state;

typedef struct run_input
{
	uint32_t	width;			/* 0: the job has no such input */
	uint64_t	total_bytes;
	uint64_t	sent_bytes;		/* or being copied to extents that will be sent */
	const char *whole;			/* in the binding; NULL: it comes through input_slot */
	int			held_extent;	/* the caller fills it; -1: none */
} run_input;

typedef struct run_output
{
	char	   *target;
	uint64_t	total_bytes;
	uint64_t	received_bytes; /* in extents; all are copied when no task is left */
} run_output;

struct mgpu_run
{
	mgpu_port  *port;
	mgpu_slot  *slot;
	uint32_t	generation;
	int			num_threads;	/* the limit, the caller included */
	int			num_threads_used;
	run_state	state;
	bool		cancelled;
	bool		host_is_done;
	uint32_t	received;		/* messages */
	run_input	inputs[MGPU_NUM_INPUTS];
	run_output	outputs[MGPU_NUM_OUTPUTS];
	uint32_t	free_extents[MGPU_SLOT_EXTENTS];
	int			num_free;
	mgpu_copier *copier;		/* from submit on */
	bool		is_group;
	bool		asks;			/* about kept pages: has sent the question ... */
	bool		is_answered;	/* ... and the answer has come */
	bool		knows_sizes;	/* GROUP: the slot has the result ... */
	bool		is_bound;		/* ... and outputs have targets, or come in pieces: */
	bool		in_pieces;
	mgpu_message piece;			/* that the caller has not taken yet; 0 bytes: none */
};

/* Whether the caller has to do something before more messages are taken. */
static inline bool
mgpu_client_awaits_caller(const mgpu_run *run)
{
	return (run->knows_sizes && !run->is_bound) || run->piece.bytes > 0;
}

/* Let the host work, if it is here, or wait for it for a while. */
void		mgpu_client_await(mgpu_run *run);

void		mgpu_client_tell(mgpu_run *run, mgpu_message_kind kind, uint32_t channel, uint32_t extent, uint64_t bytes);

/* Take all messages there are. */
mgpu_status mgpu_client_take_messages(mgpu_run *run, mgpu_error *err);

/* What every call on a run checks first; takes messages, too. */
mgpu_status mgpu_client_enter(mgpu_run *run, run_state from, run_state to, const char *call, mgpu_error *err);

mgpu_status mgpu_client_fail(mgpu_run *run, mgpu_error *err, mgpu_status status, const char *message);

#endif							/* MGPU_SERVICE_CLIENT_RUN_H */
