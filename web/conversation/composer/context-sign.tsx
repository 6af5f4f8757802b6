import { fullnessWords, meterWords, type Transcript } from "../../../src/client/index.ts"
import { catalogue } from "../../state/catalogue.ts"
import { useStore } from "../../state/store.ts"

/** How much of what the model can read is taken: small, and only where something is. */
export function ContextSign({ transcript: { context, model } }: { readonly transcript: Transcript }) {
  const models = useStore(catalogue)?.models.items ?? []
  if (!context) return null
  // After a change of the model the catalogue knows what the new one can read.
  const limit = context.limit ?? models.find(({ name }) => name === model)?.contextTokens ?? null
  const words = fullnessWords({ ...context, limit })
  if (!words) return null
  return (
    <span
      className="px-2 text-[12px] text-faint"
      title={`${meterWords({ ...context, limit })} /compact sums up what was said.`}
    >
      <span className="sr-only">Context: </span>
      {words}
    </span>
  )
}
