import { useEffect, useState } from "react"
import { askerWords, openQuestions, toContent } from "../../../src/client/index.ts"
import type { Question, QuestionAnswer, QuestionField } from "../../../src/protocol/index.ts"
import { Button } from "../../parts/button.tsx"
import { attempt } from "../../parts/explain.ts"
import { Plain } from "../../parts/plain.tsx"
import { client } from "../../state/client.ts"
import type { Unwritten } from "../../state/use-unwritten.ts"

interface QuestionCardsProps {
  readonly conversationId: string
  readonly transcript: Unwritten
}

const LOOK_EVERY_MS = 10_000

/** What servers of tools ask in the middle of a call. Nothing comes from our server when the time is up, so it is looked at now and then. */
export function QuestionCards({ conversationId, transcript }: QuestionCardsProps) {
  const [now, setNow] = useState(Date.now)
  const open = openQuestions(transcript, now)
  const isAny = open.length > 0
  useEffect(() => {
    if (!isAny) return
    const timer = setInterval(() => setNow(Date.now()), LOOK_EVERY_MS)
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
    void answer({ action: "accept", content: toContent(fields, written) })
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        send(new FormData(event.currentTarget))
      }}
      aria-label={`A question of ${question.server}`}
      className="mb-2 space-y-3 rounded-xl border border-line bg-surface px-4 py-3 text-sm"
    >
      <p className="text-soft">
        <Plain text={askerWords(question)} />
      </p>
      <p className="whitespace-pre-wrap break-words">
        <Plain text={message} />
      </p>
      {url === undefined ? null : (
        <p className="break-all font-mono">
          <Plain text={url} />
        </p>
      )}
      {fields.map((field) => (
        <Field key={field.name} field={field} />
      ))}
      <div className="flex flex-wrap items-center gap-2">
        <Button small look="main" type="submit" disabled={isSending}>
          {fields.length > 0 ? "Send answer" : "Agree"}
        </Button>
        <Button small disabled={isSending} onClick={() => void answer({ action: "decline" })}>
          Decline
        </Button>
        <Button small disabled={isSending} onClick={() => void answer({ action: "cancel" })}>
          Dismiss
        </Button>
        <span className="text-faint">until {toTime(expiresAt)}; your answer is kept in this conversation</span>
      </div>
    </form>
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
      {kind === "choice" || kind === "choices" || kind === "boolean" ? (
        <select name={name} required={isRequired} multiple={kind === "choices"} className={style}>
          {kind === "choices" ? null : <option value="" />}
          {(kind === "boolean" ? YES_NO : options).map(({ value, label: title }) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      ) : (
        <input name={name} required={isRequired} autoComplete="off" className={style} />
      )}
    </label>
  )
}

const YES_NO = [
  { value: "yes", label: "Yes" },
  { value: "no", label: "No" },
]

const toTime = (at: number): string => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
