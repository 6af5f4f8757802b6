import { Info } from "lucide-react"
import type { NoticeItem, UnknownItem } from "../../src/client/index.ts"
import { Json } from "../parts/json.tsx"
import { Plain } from "../parts/plain.tsx"

/** Something that happened to the conversation, in small print. */
export function NoticeRow({ item }: { readonly item: NoticeItem }) {
  const says = inWords(item)
  if (says === undefined) return null
  return (
    <p className="flex items-start gap-2 py-2 text-[13px] text-faint">
      <Info className="mt-[3px] size-3.5 shrink-0" /> <Plain text={says} />
    </p>
  )
}

function inWords({ notice, detail }: NoticeItem): string | undefined {
  switch (notice) {
    case "restarted":
      return detail === "crash"
        ? "The server stopped in the middle of this reply and has begun it anew."
        : detail === "handover"
          ? "Another server has taken over and begins this reply anew."
          : `The reply broke off and is begun anew. ${detail ?? ""}`
    case "history_cut":
      return `The conversation has grown too long for the model: from here on it sees only what came after message ${detail}. You still see all of it.`
    // How the newest run went is told at the end of the list, with what to do; of older ones this is what is left.
    case "cancelled":
      return detail === "forked" ? undefined : "Stopped."
    case "failed":
      return `This run failed. ${detail ?? ""}`
  }
}

/** What a newer server has told and this page has no words for. */
export function UnknownRow({ item: { frame } }: { readonly item: UnknownItem }) {
  return (
    <details className="py-2 text-[13px] text-faint">
      <summary>
        Something new to this page: <Plain text={frame.type} />
      </summary>
      <Json value={frame.data} />
    </details>
  )
}
