import { faultOf } from '$lib/backend/errors';
import type { TestResult } from '$lib/backend/types';
import { sentences } from '$lib/util/words';

/** A test button answers within this time, in milliseconds. */
export const ANSWER_MS = 5000;

/**
 * answer runs a test and always comes back with something to show: the result,
 * why it could not be run, or that nothing answered in time.
 */
export async function answer(test: () => Promise<TestResult>, limit = ANSWER_MS): Promise<TestResult> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<TestResult>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, text: `No answer within ${limit / 1000} s.` }), limit);
  });
  try {
    return await Promise.race([test(), late]);
  } catch (err) {
    const fault = faultOf(err);
    return { ok: false, text: sentences(fault.happened, fault.remedy) };
  } finally {
    clearTimeout(timer);
  }
}
