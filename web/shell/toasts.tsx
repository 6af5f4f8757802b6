import { X } from "../icons/signs.ts"
import { IconButton } from "../parts/button.tsx"
import { useStore } from "../state/store.ts"
import { dismiss, toasts } from "../state/toasts.ts"

/** What is said in passing, below the page, which makes room for it: it covers nothing. Read aloud when it comes. */
export function Toasts() {
  const shown = useStore(toasts)
  return (
    <div role="status" className={`flex shrink-0 flex-col items-end gap-2 px-4 ${shown.length > 0 ? "py-2" : ""}`}>
      {shown.map(({ key, text, tone }) => (
        <div
          key={key}
          data-toast
          className={`appear flex max-w-full items-start gap-2 rounded-xl border border-line bg-surface py-1 pr-1 pl-4 text-sm shadow-md sm:max-w-xl ${tone === "bad" ? "text-danger" : ""}`}
        >
          <p className="min-w-0 py-1 [overflow-wrap:anywhere]">{text}</p>
          <IconButton label="Dismiss" onClick={() => dismiss(key)}>
            <X className="size-4" />
          </IconButton>
        </div>
      ))}
    </div>
  )
}
