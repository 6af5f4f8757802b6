import { Ellipsis } from "../icons/signs.ts"
import { Pencil, Trash } from "../icons/things.ts"
import { memo, useState } from "react"
import type { ConversationView } from "../../src/protocol/index.ts"
import { AgentMark } from "../parts/agent-name.tsx"
import { Confirm } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { Menu, MenuItem } from "../parts/menu.tsx"
import { Plain } from "../parts/plain.tsx"
import { useAttempt } from "../parts/use-attempt.ts"
import { humanName } from "../parts/words.ts"
import { deleteConversation, renameConversation } from "../state/feed.ts"
import { navigate, usePath } from "../state/router.ts"

export const UNTITLED = "Untitled"

interface ConversationEntryProps {
  readonly conversation: ConversationView
  /** Something in it waits for a decision. */
  readonly waits: boolean
}

export const ConversationEntry = memo(function ConversationEntry({ conversation, waits }: ConversationEntryProps) {
  const { id, title, status, agent } = conversation
  const path = usePath()
  const isHere = path === `/c/${id}`
  const [doing, setDoing] = useState<"rename" | "delete" | undefined>()
  const name = title ?? UNTITLED
  if (doing === "rename") return <Rename id={id} title={name} onDone={() => setDoing(undefined)} />
  return (
    <li
      className={`group relative flex items-center rounded-lg ${isHere ? "bg-paper shadow-[inset_0_0_0_1px_var(--line)]" : "hover:bg-paper"}`}
    >
      <button
        type="button"
        aria-current={isHere ? "page" : undefined}
        title={humanName(agent)}
        onClick={() => navigate(`/c/${id}`)}
        className="flex h-9 min-w-0 flex-1 items-center gap-2 rounded-lg pr-9 pl-2 text-left text-sm"
      >
        <AgentMark agent={agent} className="size-3.5 text-faint" />
        <span className={`min-w-0 flex-1 truncate ${title === null ? "text-faint" : ""}`}>
          <Plain text={name} />
        </span>
        <Sign status={status} waits={waits} />
      </button>
      <div className="absolute right-1">
        <Menu
          align="end"
          trigger={
            <button
              type="button"
              aria-label={`More for ${escapeHidden(name)}`}
              className="grid size-7 place-items-center rounded-md text-faint opacity-0 group-hover:opacity-100 hover:text-ink focus-visible:opacity-100 data-[state=open]:opacity-100 max-md:opacity-100"
            >
              <Ellipsis className="size-4" />
            </button>
          }
        >
          <MenuItem icon={<Pencil />} onSelect={() => setDoing("rename")}>
            Rename
          </MenuItem>
          <MenuItem icon={<Trash />} danger onSelect={() => setDoing("delete")}>
            Delete
          </MenuItem>
        </Menu>
      </div>
      {doing === "delete" && (
        <Confirm
          title="Delete this conversation?"
          says={
            <>
              “<Plain text={name} />” and everything said in it will be erased. What was changed through it stays
              changed.
            </>
          }
          act="Delete"
          onClose={() => setDoing(undefined)}
          onAct={() => {
            setDoing(undefined)
            void attempt(() => deleteConversation(id)).then((done) => {
              if (done && isHere) navigate("/")
            })
          }}
        />
      )}
    </li>
  )
})

/** What goes on in it: at work, waiting for the person, or broken. */
function Sign({ status, waits }: { readonly status: ConversationView["status"]; readonly waits: boolean }) {
  // It waits, and there is nothing to decide: what it waited for has expired, or a program of the person's is to answer.
  if (!waits && status === "awaiting_confirmation")
    return (
      <span
        title="Waits, with nothing to decide"
        className="size-2 rounded-full border border-faint group-hover:invisible"
      >
        <span className="sr-only">Waits, with nothing to decide</span>
      </span>
    )
  if (waits)
    return (
      <span title="Waits for you" className="size-2 rounded-full bg-warn group-hover:invisible">
        <span className="sr-only">Waits for you</span>
      </span>
    )
  if (status === "running")
    return (
      <span title="At work" className="pulse size-2 rounded-full bg-accent group-hover:invisible">
        <span className="sr-only">At work</span>
      </span>
    )
  return null
}

function Rename({ id, title, onDone }: { readonly id: string; readonly title: string; readonly onDone: () => void }) {
  const [text, setText] = useState(title)
  const { once, isBusy } = useAttempt()
  const save = () => {
    const name = text.trim()
    if (name === "" || name === title) return onDone()
    // The new name stays until the server has it.
    void once(() => renameConversation(id, name)).then((isDone) => isDone && onDone())
  }
  return (
    <li>
      <input
        autoFocus
        value={text}
        maxLength={200}
        readOnly={isBusy}
        aria-label="Title"
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Enter") save()
          if (event.key !== "Escape") return
          event.preventDefault()
          onDone()
        }}
        className="field h-9 px-2 text-sm"
      />
    </li>
  )
}
