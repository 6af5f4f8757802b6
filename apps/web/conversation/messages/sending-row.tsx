import { Clock } from "../../components/icons.tsx"
import { Button } from "../../components/button.tsx"
import { explain } from "../../components/explain.ts"
import { sendAgain, type Sending, removeUnsent } from "../../state/outbox.ts"
import { restoreDraft } from "../composer/draft.ts"
import { MessageFiles } from "../../components/file-chip.tsx"
import { Words } from "./user-row.tsx"
import { t } from "../../strings/strings.ts"

/** The draft of a conversation that does not exist yet. */
export const NEW_DRAFT = "new"

/** A message that the server has not stored: being sent, waiting for the connection, or refused. */
export function SendingRow({ sent }: { readonly sent: Sending }) {
  const { key, text, files = [], state, error, conversationId } = sent
  const takeBackWords = () => {
    removeUnsent(key)
    restoreDraft(conversationId ?? NEW_DRAFT, text, files)
  }
  return (
    <article aria-label={t("conversation.sendingMessage")} className="flex flex-col items-end py-3">
      {files.length > 0 && <MessageFiles files={files} />}
      <Words text={text} faded />
      {state === "waiting" && (
        <div role="status" className="mt-2 flex flex-wrap items-center justify-end gap-2 text-sm text-warn">
          <p className="flex items-center gap-1.5">
            <Clock className="size-3.5 shrink-0" aria-hidden="true" /> {t("conversation.sendsWhenBack")}
          </p>
          <Button small look="quiet" onClick={takeBackWords}>
            {t("conversation.cancelSending")}
          </Button>
        </div>
      )}
      {(state === "refused" || state === "old") && (
        <div role="alert" className="mt-2 flex flex-wrap items-center justify-end gap-2 text-sm text-danger">
          <p>{state === "old" ? t("conversation.writtenLongAgo") : explain(error)}</p>
          <Button small onClick={() => sendAgain(key)}>
            {t("conversation.sendAgain")}
          </Button>
          <Button small look="quiet" onClick={takeBackWords}>
            {t("conversation.cancelSending")}
          </Button>
        </div>
      )}
    </article>
  )
}
