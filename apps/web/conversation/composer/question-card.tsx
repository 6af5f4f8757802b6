import { useEffect, useState } from "react"
import { openQuestions, toContent } from "../../../../client/index.ts"
import type { Question, QuestionAnswer, QuestionField } from "../../../../core/protocol/index.ts"
import { Button } from "../../components/button.tsx"
import { attempt } from "../../components/explain.ts"
import { FormField, Form, SubmitButton } from "../../components/form.tsx"
import { Plain } from "../../components/plain.tsx"
import { client } from "../../state/client.ts"
import type { SettledTranscript } from "../../state/use-settled-transcript.ts"
import { rich, t } from "../../strings/strings.ts"
import { clock, quoted } from "../../strings/format.ts"

interface QuestionCardsProps {
  readonly conversationId: string
  readonly transcript: SettledTranscript
}

const POLL_MS = 10_000

/** Questions of MCP servers during a call. The server sends nothing when one expires, so a timer checks it. */
export function QuestionCards({ conversationId, transcript }: QuestionCardsProps) {
  const [now, setNow] = useState(Date.now)
  const open = openQuestions(transcript, now)
  const isAny = open.length > 0
  useEffect(() => {
    if (!isAny) return
    const timer = setInterval(() => setNow(Date.now()), POLL_MS)
    return () => clearInterval(timer)
  }, [isAny])
  return open.map((question) => <QuestionCard key={question.id} conversationId={conversationId} question={question} />)
}

function QuestionCard({ conversationId, question }: { readonly conversationId: string; readonly question: Question }) {
  const [isSending, setSending] = useState(false)
  const { id, message, fields, url, expiresAt } = question
  const answer = async (body: QuestionAnswer) => {
    setSending(true)
    await attempt(() => client.answerQuestion({ params: { id: conversationId, questionId: id }, body }))
    setSending(false)
  }
  const send = (form: FormData) => {
    const written = Object.fromEntries(fields.map(({ name }) => [name, form.getAll(name).map(String).join(",")]))
    const body = { action: "accept", content: toContent(fields, written) } as const
    return client.answerQuestion({ params: { id: conversationId, questionId: id }, body })
  }
  return (
    <Form
      onSubmit={(form) => send(new FormData(form))}
      aria-label={t("conversation.questionFrom", { server: question.server || question.tool })}
      className="mb-2 space-y-3 rounded-xl border border-line bg-surface px-4 py-3 text-sm"
    >
      <p className="text-soft">
        {rich(question.server === "" ? "conversation.toolAsks" : "conversation.asker", {
          server: <Plain text={quoted(question.server)} />,
          tool: <Plain text={quoted(question.tool)} />,
        })}
      </p>
      <p className="whitespace-pre-wrap break-words">
        <Plain text={message} />
      </p>
      {url === undefined ? null : (
        <p className="break-all font-mono">
          <Plain text={url} />
        </p>
      )}
      {question.part && <p className="text-faint">{t("conversation.questionPart", question.part)}</p>}
      {fields.map((field) => (
        <Field key={field.name} field={field} />
      ))}
      <div className="flex flex-wrap items-center gap-2">
        <SubmitButton small look="main" disabled={isSending}>
          {t(fields.length > 0 ? "conversation.sendAnswer" : "conversation.agree")}
        </SubmitButton>
        <Button small disabled={isSending} onClick={() => void answer({ action: "decline" })}>
          {t("conversation.decline")}
        </Button>
        <Button small disabled={isSending} onClick={() => void answer({ action: "cancel" })}>
          {t("common.dismiss")}
        </Button>
        <span className="text-faint">{t("conversation.questionUntil", { time: clock(expiresAt) })}</span>
      </div>
    </Form>
  )
}

function Field({ field: { name, label, about, kind, options = [], isRequired } }: { readonly field: QuestionField }) {
  const style = "mt-1 w-full rounded-md border border-line bg-transparent px-2 py-1"
  return (
    <label className="block">
      <Plain text={label} />
      {about ? (
        <span className="ml-2 text-faint">
          <Plain text={about} />
        </span>
      ) : null}
      <FormField name={name}>
        {kind === "choice" || kind === "choices" || kind === "boolean" ? (
          <select name={name} required={isRequired} multiple={kind === "choices"} className={style}>
            {kind === "choices" ? null : <option value="" />}
            {(kind === "boolean" ? yesNo() : options).map(({ value, label: title }) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        ) : (
          <input name={name} required={isRequired} autoComplete="off" className={style} />
        )}
      </FormField>
    </label>
  )
}

const yesNo = () => [
  { value: "yes", label: t("conversation.yes") },
  { value: "no", label: t("conversation.no") },
]
