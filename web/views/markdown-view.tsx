import { Markdown } from "../markdown/markdown.tsx"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { defineView } from "./define-view.ts"

/** `{ kind: "markdown", text }`: drawn as a reply is, with nothing in it that could run. */
export const markdownView = defineView<string>({
  kind: "markdown",
  read: ({ text }) => (typeof text === "string" ? text : undefined),
  Draw: ({ data }) => (
    <div className="my-2 rounded-xl border border-line bg-surface px-4 py-3">
      <Markdown text={escapeHidden(data)} />
    </div>
  ),
})
