import type { RunId } from "../protocol/ids.ts"
import { traceIdOf } from "./ids.ts"

/** Which runs are told. By the trace's id alone, with OpenTelemetry's own reckoning: every process decides alike. */
export async function openSampling(share: number): Promise<(run: RunId) => boolean> {
  if (share >= 1) return () => true
  if (share <= 0) return () => false
  const [{ SamplingDecision, TraceIdRatioBasedSampler }, { ROOT_CONTEXT }] = await Promise.all([
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/api"),
  ])
  const sampler = new TraceIdRatioBasedSampler(share)
  const { RECORD_AND_SAMPLED } = SamplingDecision
  return (run) => sampler.shouldSample(ROOT_CONTEXT, traceIdOf(run)).decision === RECORD_AND_SAMPLED
}
