import { Plain } from "../parts/plain.tsx"
import { defineView } from "./define-view.ts"

/** `{ kind: "text", text }`: exactly these characters. */
export const textView = defineView<string>({
  kind: "text",
  read: ({ text }) => (typeof text === "string" ? text : undefined),
  Draw: ({ data }) => (
    <pre
      tabIndex={0}
      className="my-2 max-h-96 overflow-auto rounded-xl border border-line bg-surface px-4 py-3 font-mono text-[13px] whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      <Plain text={data} />
    </pre>
  ),
})
