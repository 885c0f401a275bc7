/*
 * device/signal.h
 *		A word that a kernel writes to pinned memory, where the host sees it at once.
 *
 * Waiting for the stream takes some 4 us more, and ends only when all enqueued work has ended.  The
 * upper half of the word is the number of its question, so nothing is cleared between two
 * questions.
 */
#ifndef MGPU_DEVICE_SIGNAL_H
#define MGPU_DEVICE_SIGNAL_H

#include <cuda_runtime.h>
#include <stdint.h>

#define MGPU_SIGNAL(question, answer) ((uint64_t) (question) << 32 | (uint32_t) (answer))

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A number for the next question, never 0, and the word for its answer, which is used again 64
 * questions later.  The first call allocates pinned memory, which the process keeps.  One thread at
 * a time.
 */
cudaError_t mgpu_new_question(uint64_t **word, uint32_t *question);

/*
 * Wait until the word answers this question.  Ends with the stream's error, or with
 * cudaErrorUnknown if the stream ended without an answer.
 */
cudaError_t mgpu_await_answer(const uint64_t *word, uint32_t question, cudaStream_t stream, uint32_t *answer);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_DEVICE_SIGNAL_H */
