import { X } from "lucide-react"
import { IconButton } from "../parts/button.tsx"
import { useStore } from "../state/store.ts"
import { dismiss, toasts } from "../state/toasts.ts"

/** What is said in passing, in the corner; read aloud when it comes. */
export function Toasts() {
  const shown = useStore(toasts)
  return (
    <div role="status" className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-end gap-2">
      {shown.map(({ key, text, tone }) => (
        <div
          key={key}
          className={`appear pointer-events-auto flex max-w-md items-start gap-2 rounded-xl border border-line bg-surface py-2 pr-1 pl-4 text-sm shadow-lg ${tone === "bad" ? "text-danger" : ""}`}
        >
          <p className="py-1">{text}</p>
          <IconButton label="Dismiss" onClick={() => dismiss(key)}>
            <X className="size-4" />
          </IconButton>
        </div>
      ))}
    </div>
  )
}
