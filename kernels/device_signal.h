/*
 * device_signal.h
 *		Words that a kernel leaves for the host, which sees them while the stream
 *		goes on.
 *
 * A kernel writes straight to pinned memory, and the host waits for the words
 * themselves: waiting for the stream takes some 4 us more, and ends only when all
 * that was enqueued has ended.  Each word has the number of its question in its
 * upper half, so nothing has to be cleared between two questions.  Few words in one
 * line: the host takes some 100 ns for each line that a device has written.
 */
#ifndef MGPU_DEVICE_SIGNAL_H
#define MGPU_DEVICE_SIGNAL_H

#include <cuda_runtime.h>
#include <stdint.h>

/* Words of a question; who asks decides what they mean. */
#define MGPU_SIGNAL_WORDS 8

/* What a kernel puts into a word. */
#define MGPU_SIGNAL(question, answer) ((uint64_t) (question) << 32 | (uint32_t) (answer))

typedef struct mgpu_signals
{
	uint64_t	words[MGPU_SIGNAL_WORDS];
} mgpu_signals;

/* A question whose answer is looked at later; question 0: there is none. */
typedef struct mgpu_open_question
{
	const mgpu_signals *signals;
	uint32_t	question;
} mgpu_open_question;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A number for the next question, never 0, and words for its answers, which both
 * sides can write.  Words are used again 64 questions later.  The first call
 * allocates pinned memory, which the process keeps.  One thread at a time.
 */
cudaError_t mgpu_new_question(mgpu_signals **signals, uint32_t *question);

/*
 * Wait until the words from `first` on, so many, answer this question.  An error
 * of the stream ends it; so does a stream that ended without an answer
 * (cudaErrorUnknown).
 */
cudaError_t mgpu_await_answers(const mgpu_signals *signals, uint32_t first, uint32_t num_words, uint32_t question,
							   cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_DEVICE_SIGNAL_H */
