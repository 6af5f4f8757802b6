import { Popover } from "radix-ui"
import { useState } from "react"
import { fullnessWords, meterWords } from "../../../src/client/index.ts"
import { Button } from "../../parts/button.tsx"
import { catalogue } from "../../state/catalogue.ts"
import { useStore } from "../../state/store.ts"
import { PickerButton } from "./picker-button.tsx"
import { sumUp } from "./sum-up.ts"
import type { Unwritten } from "../../state/use-unwritten.ts"

interface ContextSignProps {
  readonly conversationId: string
  readonly transcript: Unwritten
}

/** How much of what the model can read is taken: small, and only where something is. It opens to say the rest, and to make room. */
export function ContextSign({ conversationId, transcript: { context, model, isSummingUp } }: ContextSignProps) {
  const models = useStore(catalogue)?.models.items ?? []
  const [isOpen, setOpen] = useState(false)
  if (!context) return null
  // After a change of the model the catalogue knows what the new one can read.
  const limitTokens = context.limitTokens ?? models.find(({ name }) => name === model)?.contextTokens ?? null
  const words = fullnessWords({ ...context, limitTokens })
  if (!words) return null
  const makeRoom = () => {
    setOpen(false)
    void sumUp(conversationId)
  }
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <PickerButton label="Context" shown={words} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label="Context"
          align="start"
          side="top"
          sideOffset={6}
          collisionPadding={8}
          className="appear z-50 flex w-[min(20rem,calc(100vw-1rem))] flex-col items-start gap-2.5 rounded-xl border border-line bg-surface p-3.5 text-sm shadow-lg"
        >
          <p>{meterWords({ ...context, limitTokens })}</p>
          <p className="text-[13px] text-soft">
            When it is three quarters full, what was said first is summed up for the model. You still see all of it.
          </p>
          <Button small disabled={isSummingUp} onClick={makeRoom}>
            {isSummingUp ? "Summing up …" : "Sum up now"}
          </Button>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
