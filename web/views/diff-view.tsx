import { Changes } from "../changes/changes.tsx"
import { defineView } from "./define-view.ts"

interface Before {
  readonly before: unknown
  readonly after: unknown
}

/** `{ kind: "diff", before, after }`: what became of something. */
export const diffView = defineView<Before>({
  kind: "diff",
  read: (data) => ("before" in data && "after" in data ? { before: data.before, after: data.after } : undefined),
  Draw: ({ data }) => (
    <div className="my-2 rounded-xl border border-line bg-surface px-4 py-3">
      <Changes diff={data} />
    </div>
  ),
})
