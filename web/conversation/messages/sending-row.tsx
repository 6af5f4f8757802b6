import { Clock } from "../../icons/signs.ts"
import { Button } from "../../parts/button.tsx"
import { explain } from "../../parts/explain.ts"
import { sendAgain, type Sending, takeBack } from "../../state/outbox.ts"
import { restoreDraft } from "../composer/draft.ts"
import { MessageFiles } from "../../parts/message-files.tsx"
import { Words } from "./user-row.tsx"

/** Where the words of a conversation that is not begun yet were typed. */
export const NEW_DRAFT = "new"

const TOO_OLD = "This was written more than a day ago, and may have arrived then."

/** Words that the server does not have yet: on their way, waiting until it is back, or refused. */
export function SendingRow({ sent }: { readonly sent: Sending }) {
  const { key, text, files = [], state, error, conversationId } = sent
  const takeBackWords = () => {
    takeBack(key)
    restoreDraft(conversationId ?? NEW_DRAFT, text, files)
  }
  return (
    <article aria-label="You, being sent" className="flex flex-col items-end py-3">
      {files.length > 0 && <MessageFiles files={files} />}
      <Words text={text} faded />
      {state === "waiting" && (
        <div role="status" className="mt-2 flex flex-wrap items-center justify-end gap-2 text-sm text-warn">
          <p className="flex items-center gap-1.5">
            <Clock className="size-3.5 shrink-0" aria-hidden="true" /> Waits for the server, and is sent when it is
            back.
          </p>
          <Button small look="quiet" onClick={takeBackWords}>
            Take it back
          </Button>
        </div>
      )}
      {(state === "refused" || state === "old") && (
        <div role="alert" className="mt-2 flex flex-wrap items-center justify-end gap-2 text-sm text-danger">
          <p>{state === "old" ? TOO_OLD : explain(error)}</p>
          <Button small onClick={() => sendAgain(key)}>
            Send again
          </Button>
          <Button small look="quiet" onClick={takeBackWords}>
            Take it back
          </Button>
        </div>
      )}
    </article>
  )
}
