import { Popover } from "radix-ui"
import { type ReactNode, useState } from "react"
import { catalogue, lookAtModels } from "../../state/catalogue.ts"
import { useStore } from "../../state/store.ts"
import { ModelEndpoints } from "./model-endpoints.tsx"
import { ModelList } from "./model-list.tsx"
import { PickerButton } from "./picker-button.tsx"

interface ModelPickerProps {
  /** Undefined: what the server chooses. */
  readonly value: string | undefined
  readonly onChoose: (name: string) => void
  readonly side?: "top" | "bottom"
  /** What else there is to choose, at the end of the list. */
  readonly below?: ReactNode
}

/** Which model answers: of however many there are, those that can be used, found by their names. */
export function ModelPicker({ value, onChoose, side = "top", below }: ModelPickerProps) {
  const models = useStore(catalogue)?.models
  const [isOpen, setOpen] = useState(false)
  if (!models) return null
  const chosen = value ?? models.default ?? undefined
  const { endpoints = [] } = models
  const open = (opens: boolean) => {
    setOpen(opens)
    // Nobody waits for it: where it does not work, the list stays as it is.
    if (opens && endpoints.length > 0) lookAtModels(false).catch(() => {})
  }
  return (
    <Popover.Root open={isOpen} onOpenChange={open}>
      <Popover.Trigger asChild>
        <PickerButton label="Model" shown={chosen ?? "Choose a model"} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label="Models"
          align="start"
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="appear z-50 flex max-h-[min(26rem,var(--radix-popover-content-available-height))] w-[min(22rem,calc(100vw-1rem))] flex-col rounded-xl border border-line bg-surface p-1.5 text-sm shadow-lg"
        >
          <ModelList
            models={models.items}
            chosen={chosen}
            onChoose={(name) => {
              setOpen(false)
              onChoose(name)
            }}
          />
          <ModelEndpoints endpoints={endpoints} />
          {below}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
