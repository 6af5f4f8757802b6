import { Part } from "../parts/part.tsx"
import { SharedRunList, useSharedRuns } from "../runs/shared-run-list.tsx"

/** Every link to a run that the person has made and that still opens. */
export function SharedSettings() {
  const shared = useSharedRuns()
  return (
    <Part
      title="Shared runs"
      says="Links by which others on this server look at a run of yours. One is made where the details of a run are; taken back, it is gone at once."
    >
      <SharedRunList {...shared} />
      {shared.value?.length === 0 && <p className="text-sm text-soft">You share no run.</p>}
    </Part>
  )
}
