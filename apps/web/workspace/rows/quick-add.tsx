import { Plus } from "../../components/icons.tsx"
import { useState } from "react"
import { type Key, t } from "../../strings/strings.ts"
import { Form, OnlyField, SubmitButton } from "../../components/form.tsx"

const LABELS = {
  task: ["workspace.newTask", "workspace.addTask"],
  note: ["workspace.newNote", "workspace.addNote"],
  project: ["workspace.newProject", "workspace.addProject"],
  client: ["workspace.newClient", "workspace.addClient"],
  comment: ["workspace.newComment", "workspace.addComment"],
} as const satisfies Record<string, readonly [placeholder: Key, add: Key]>

interface QuickAddProps {
  readonly what: keyof typeof LABELS
  readonly maxLength?: number
  readonly onAdd: (words: string) => Promise<unknown>
}

/** A field that adds a row on Enter and is then ready for the next one. */
export function QuickAdd({ what, maxLength = 500, onAdd }: QuickAddProps) {
  const [words, setWords] = useState("")
  const [placeholder, addLabel] = LABELS[what]
  const add = async () => {
    const name = words.trim()
    if (name === "") return
    await onAdd(name)
    setWords("")
  }
  return (
    <Form className="flex flex-wrap gap-2" onSubmit={add}>
      <OnlyField>
        <input
          value={words}
          maxLength={maxLength}
          aria-label={t(placeholder)}
          placeholder={t(placeholder)}
          onChange={(event) => setWords(event.target.value)}
          className="field h-9 min-w-0 flex-1 text-sm"
        />
      </OnlyField>
      <SubmitButton disabled={words.trim() === ""} aria-label={t(addLabel)}>
        <Plus className="size-4" /> {t("common.add")}
      </SubmitButton>
    </Form>
  )
}
