/*
 * device/signal.h
 *		Words that a kernel writes to pinned memory, where the host sees them at once.
 *
 * Waiting for the stream takes some 4 us more, and ends only when all enqueued work has ended.
 * The upper half of each word is the number of its question, so nothing is cleared between two
 * questions.  Words share a cache line: the host takes some 100 ns for each line that a device has
 * written.
 */
#ifndef MGPU_DEVICE_SIGNAL_H
#define MGPU_DEVICE_SIGNAL_H

#include <cuda_runtime.h>
#include <stdint.h>

/* Words of a question.  The asker decides what they mean. */
#define MGPU_SIGNAL_WORDS 8

#define MGPU_SIGNAL(question, answer) ((uint64_t) (question) << 32 | (uint32_t) (answer))

typedef struct mgpu_signals
{
	uint64_t	words[MGPU_SIGNAL_WORDS];
} mgpu_signals;

/* A question whose answer is read later. question 0: there is none. */
typedef struct mgpu_pending_answer
{
	const mgpu_signals *signals;
	uint32_t	question;
} mgpu_pending_answer;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A number for the next question, never 0, and words for its answers.  Words are used again 64
 * questions later.  The first call allocates pinned memory, which the process keeps.  One thread at
 * a time.
 */
cudaError_t mgpu_new_question(mgpu_signals **signals, uint32_t *question);

/*
 * Wait until num_words words from `first` on answer this question.  Ends with the stream's error,
 * or with cudaErrorUnknown if the stream ended without an answer.
 */
cudaError_t mgpu_await_answers(const mgpu_signals *signals, uint32_t first, uint32_t num_words, uint32_t question,
							   cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_DEVICE_SIGNAL_H */
