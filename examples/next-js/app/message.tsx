import { getToolName, isToolUIPart, type UIMessage } from "ai"

interface MessageProps {
  readonly message: UIMessage
  decide(approvalId: string, approved: boolean): void
}

type Part = UIMessage["parts"][number]

export function Message({ message: { role, parts, metadata }, decide }: MessageProps) {
  const { pawl } = (metadata ?? {}) as { readonly pawl?: { readonly status?: string } }
  return (
    <article data-role={role}>
      {parts.map((part, index) => (
        <MessagePart key={index} part={part} decide={decide} />
      ))}
      {pawl?.status === "cancelled" && <small>Stopped.</small>}
    </article>
  )
}

function MessagePart({ part, decide }: { readonly part: Part } & Pick<MessageProps, "decide">) {
  if (part.type === "text") return <p>{part.text}</p>
  if (part.type === "reasoning") return <blockquote>{part.text}</blockquote>
  if (part.type === "file") return <small>{part.filename}</small>
  if (part.type === "source-url") return <a href={part.url}>{part.title ?? part.url}</a>
  if (part.type === "data-in-doubt")
    return (
      <output role="alert">It is unknown whether this was done. Check it, and resolve it in Pawl's own page.</output>
    )
  if (part.type === "data-table" || part.type === "data-chart")
    return <pre>{JSON.stringify(part.data, undefined, 2)}</pre>
  if (!isToolUIPart(part)) return null
  if (part.state === "approval-requested") {
    const { id, requestReason, descriptor } = part.approval
    const { expiresAt, undoable } = descriptor as { readonly expiresAt: string; readonly undoable: boolean }
    return (
      <fieldset>
        <legend>{requestReason}</legend>
        <button onClick={() => decide(id, true)}>Approve</button>{" "}
        <button onClick={() => decide(id, false)}>Reject</button>{" "}
        <small>
          expires {new Date(expiresAt).toLocaleString()}
          {undoable ? "" : "; cannot be undone"}
        </small>
      </fieldset>
    )
  }
  return (
    <details>
      <summary>{`${getToolName(part)}: ${STATES[part.state]}`}</summary>
      <pre>{typeof part.output === "string" ? part.output : (part.errorText ?? JSON.stringify(part.output))}</pre>
    </details>
  )
}

const STATES = {
  "input-streaming": "preparing",
  "input-available": "running",
  "approval-responded": "running",
  "output-available": "done",
  "output-error": "failed",
  "output-denied": "rejected",
} as const
