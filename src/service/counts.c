/*
 * service/counts.c
 *		What all sessions have run, by executor and reason: the view mgpu_stat.
 *
 * The table is small, since reasons are few.  When it is full, further reasons are counted under
 * "other".  PostgreSQL's own statistics were rejected: before 18 extensions cannot add a kind.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "service/counts.h"

#define MAX_ROWS 64
#define MAX_OWN_ROWS 8

typedef struct shared_counts
{
	LWLock	   *lock;
	int			num_rows;
	counts_row	rows[MAX_ROWS];
} shared_counts;

static shared_counts *shared;

/* This session's, not yet shared. */
static counts_row own_rows[MAX_OWN_ROWS];
static int	num_own_rows;
static void (*before_sharing) (void);	/* NULL: this session has run nothing yet */

void
counts_request_memory(void)
{
	RequestAddinShmemSpace(sizeof(shared_counts));
	RequestNamedLWLockTranche("mgpu_pg", 1);
}

void
counts_set_up(void)
{
	bool		found;

	shared = ShmemInitStruct("mgpu_pg counts", sizeof(shared_counts), &found);
	if (found)
		return;
	memset(shared, 0, sizeof(shared_counts));
	shared->lock = &GetNamedLWLockTranche("mgpu_pg")->lock;
}

bool
counts_are_kept(void)
{
	return shared != NULL;
}

/* The row of an executor and a reason, if need be a new one; NULL if there is no room. */
static counts_row *
find_row(counts_row *rows, int *num_rows, int max_rows, const counts_row *like)
{
	counts_row *row;

	for (int i = 0; i < *num_rows; i++)
	{
		if (strcmp(rows[i].reason, like->reason) == 0 && strcmp(rows[i].executor, like->executor) == 0)
			return &rows[i];
	}
	if (*num_rows == max_rows)
		return NULL;
	row = &rows[(*num_rows)++];
	memset(row, 0, sizeof(*row));
	strlcpy(row->executor, like->executor, sizeof(row->executor));
	strlcpy(row->reason, like->reason, sizeof(row->reason));
	return row;
}

static void
add_to(counts_row *sum, const counts_row *calls)
{
	sum->num_calls += calls->num_calls;
	sum->num_items += calls->num_items;
	sum->num_bytes += calls->num_bytes;
	sum->queue_ms += calls->queue_ms;
	sum->kernel_ms += calls->kernel_ms;
}

static void
share_row(const counts_row *own)
{
	counts_row	other = *own;
	counts_row *row = find_row(shared->rows, &shared->num_rows, MAX_ROWS - 2, own);

	if (row == NULL)
	{
		/* room for one of each executor is kept */
		strlcpy(other.reason, "other", sizeof(other.reason));
		row = find_row(shared->rows, &shared->num_rows, MAX_ROWS, &other);
	}
	if (row != NULL)
		add_to(row, own);
}

static void
share(void)
{
	if (before_sharing)
		before_sharing();
	if (num_own_rows == 0)
		return;
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < num_own_rows; i++)
		share_row(&own_rows[i]);
	LWLockRelease(shared->lock);
	num_own_rows = 0;
}

static void
at_transaction_end(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE ||
		event == XACT_EVENT_PARALLEL_COMMIT || event == XACT_EVENT_PARALLEL_ABORT)
		share();
}

void
counts_add(const counts_row *calls)
{
	counts_row *row = find_row(own_rows, &num_own_rows, MAX_OWN_ROWS, calls);

	if (row == NULL)
	{
		LWLockAcquire(shared->lock, LW_EXCLUSIVE);
		share_row(calls);
		LWLockRelease(shared->lock);
	}
	else
		add_to(row, calls);
}

void
counts_before_sharing(void (*function) (void))
{
	if (before_sharing == NULL)
		RegisterXactCallback(at_transaction_end, NULL);
	before_sharing = function;
}

counts_row *
counts_read(int *num_rows)
{
	counts_row *rows = palloc(sizeof(shared->rows));

	share();
	LWLockAcquire(shared->lock, LW_SHARED);
	*num_rows = shared->num_rows;
	memcpy(rows, shared->rows, sizeof(shared->rows));
	LWLockRelease(shared->lock);
	return rows;
}

void
counts_reset(void)
{
	share();
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	shared->num_rows = 0;
	LWLockRelease(shared->lock);
}
