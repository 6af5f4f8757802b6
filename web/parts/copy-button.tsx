import { Check } from "../icons/signs.ts"
import { Copy } from "../icons/things.ts"
import { useState } from "react"
import { toast } from "../state/toasts.ts"
import { IconButton } from "./button.tsx"

interface CopyButtonProps {
  /** What is copied, for its name. */
  readonly what: string
  readonly read: () => string | Promise<string>
}

export function CopyButton({ what, read }: CopyButtonProps) {
  const [done, setDone] = useState(false)
  const copy = async () => {
    const text = await read()
    try {
      await navigator.clipboard.writeText(text)
      setDone(true)
      setTimeout(() => setDone(false), 1500)
    } catch {
      // Over plain http on another machine's address browsers keep the clipboard to themselves.
      toast("The browser does not let this page copy. Select the text and copy it yourself.", "bad")
    }
  }
  return (
    <IconButton label={done ? "Copied" : `Copy ${what}`} onClick={() => void copy().catch(() => {})} small>
      {done ? <Check className="size-3.5 text-good" /> : <Copy className="size-3.5" />}
    </IconButton>
  )
}
