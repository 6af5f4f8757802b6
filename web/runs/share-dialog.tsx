import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { CopyButton } from "../parts/copy-button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { Labelled, Select } from "../parts/labelled.tsx"
import { useAttempt } from "../parts/use-attempt.ts"
import { base } from "../state/base.ts"
import { client } from "../state/client.ts"
import { SharedRunList, useSharedRuns } from "./shared-run-list.tsx"

const DAYS: readonly (readonly [value: string, name: string])[] = [
  ["1", "one day"],
  ["7", "a week"],
  ["30", "30 days"],
  ["365", "a year"],
  ["", "until I take it back"],
]

interface ShareDialogProps {
  readonly runId: string
  readonly onClose: () => void
}

/** Makes a link to a run for somebody else, and says before what it shows; below it those that were made. */
export function ShareDialog({ runId, onClose }: ShareDialogProps) {
  const [days, setDays] = useState("7")
  const [link, setLink] = useState<string>()
  const shared = useSharedRuns()
  const { once, isBusy } = useAttempt()
  const make = () =>
    once(async () => {
      const body = { days: days === "" ? null : Number(days) }
      const { path } = await client.shareRun({ params: { id: runId }, body })
      setLink(location.origin + base + path)
      await shared.reload()
    })
  return (
    <Dialog title="Share this run" onClose={onClose}>
      <div className="mb-4 space-y-2 text-sm text-soft">
        <p>
          Whoever has the link and is signed in on this server sees this run: your words in it, the replies, the calls
          with their arguments and results, when each was, what it used and cost; also what it still does.
        </p>
        <p>
          Not shown: what was said before or after it, the title, files, what the model thought, its instructions, and
          what there was before a change, except where a reply or a result repeats it. Nobody can answer or decide
          through it.
        </p>
      </div>
      {link === undefined ? (
        <form
          className="mb-4 flex flex-wrap items-end gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            void make()
          }}
        >
          <Labelled label="It opens for" className="min-w-40 flex-1">
            <Select value={days} choices={DAYS} onChoose={setDays} />
          </Labelled>
          <Button look="main" type="submit" disabled={isBusy}>
            Make a link
          </Button>
        </form>
      ) : (
        <div role="status" className="mb-4 rounded-xl bg-good-soft px-4 py-3 text-sm">
          <p className="mb-2 text-good">Here is the link. It is shown this once.</p>
          <div className="flex items-center gap-2">
            <code className="min-w-0 flex-1 font-mono text-[13px] [overflow-wrap:anywhere]">{link}</code>
            <CopyButton what="the link" read={() => link} />
          </div>
        </div>
      )}
      <SharedRunList {...shared} runId={runId} />
      <div className="flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}
