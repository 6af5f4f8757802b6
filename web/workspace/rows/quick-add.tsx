import { Plus } from "../../icons/signs.ts"
import { useState } from "react"
import { Button } from "../../parts/button.tsx"
import { attempt } from "../../parts/explain.ts"

interface QuickAddProps {
  /** What is added, such as `task`. */
  readonly what: string
  readonly maxLength?: number
  readonly onAdd: (words: string) => Promise<unknown>
}

/** One line: a name, Enter, the next. */
export function QuickAdd({ what, maxLength = 500, onAdd }: QuickAddProps) {
  const [words, setWords] = useState("")
  const [isSent, setSent] = useState(false)
  const add = async () => {
    const name = words.trim()
    if (name === "" || isSent) return
    setSent(true)
    if (await attempt(() => onAdd(name))) setWords("")
    setSent(false)
  }
  return (
    <form
      className="flex gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        void add()
      }}
    >
      <input
        value={words}
        maxLength={maxLength}
        aria-label={`New ${what}`}
        placeholder={`New ${what}`}
        onChange={(event) => setWords(event.target.value)}
        className="field h-9 min-w-0 flex-1 text-sm"
      />
      <Button type="submit" disabled={words.trim() === "" || isSent} aria-label={`Add this ${what}`}>
        <Plus className="size-4" /> Add
      </Button>
    </form>
  )
}
