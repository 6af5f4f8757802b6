import { Ellipsis, Pencil, Trash } from "../components/icons.tsx"
import { memo, useState } from "react"
import type { ConversationView } from "../../../core/protocol/index.ts"
import { AgentMark } from "../components/agent-name.tsx"
import { Confirm } from "../components/dialog.tsx"
import { attempt } from "../components/explain.ts"
import { Form, OnlyField } from "../components/form.tsx"
import { escapeHidden, humanName } from "../../../client/index.ts"
import { Link } from "../components/button.tsx"
import { Menu, MenuItem } from "../components/menu.tsx"
import { Plain } from "../components/plain.tsx"
import { deleteConversation, renameConversation } from "../state/feed.ts"
import { navigate, usePath } from "../state/router.ts"
import { t } from "../strings/strings.ts"

interface ConversationEntryProps {
  readonly conversation: ConversationView
  /** A change in it waits for a decision. */
  readonly waits: boolean
}

export const ConversationEntry = memo(function ConversationEntry({ conversation, waits }: ConversationEntryProps) {
  const { id, title, status, agent } = conversation
  const path = usePath()
  const isHere = path === `/c/${id}`
  const [doing, setDoing] = useState<"rename" | "delete" | undefined>()
  const name = title ?? t("common.untitled")
  if (doing === "rename") return <Rename id={id} title={name} onDone={() => setDoing(undefined)} />
  return (
    <li
      className={`group relative flex items-center rounded-lg ${isHere ? "bg-paper shadow-[inset_0_0_0_1px_var(--line)]" : "hover:bg-paper"}`}
    >
      <Link
        to={`/c/${id}`}
        aria-current={isHere ? "page" : undefined}
        title={humanName(agent)}
        className="flex h-9 min-w-0 flex-1 items-center gap-2 rounded-lg pr-9 pl-2 text-left text-sm"
      >
        <AgentMark agent={agent} className="size-3.5 text-faint" />
        <span className={`min-w-0 flex-1 truncate ${title === null ? "text-faint" : ""}`}>
          <Plain text={name} />
        </span>
        <Sign status={status} waits={waits} />
      </Link>
      <div className="absolute right-1">
        <Menu
          align="end"
          trigger={
            <button
              type="button"
              aria-label={t("shell.moreFor", { name: escapeHidden(name) })}
              className="grid size-7 place-items-center rounded-md text-faint opacity-0 group-hover:opacity-100 hover:text-ink focus-visible:opacity-100 data-[state=open]:opacity-100 max-md:opacity-100"
            >
              <Ellipsis className="size-4" />
            </button>
          }
        >
          <MenuItem icon={<Pencil />} onSelect={() => setDoing("rename")}>
            {t("common.rename")}
          </MenuItem>
          <MenuItem icon={<Trash />} danger onSelect={() => setDoing("delete")}>
            {t("common.delete")}
          </MenuItem>
        </Menu>
      </div>
      {doing === "delete" && (
        <Confirm
          title={t("shell.deleteConversation")}
          name={name}
          says={t("shell.deleteConversationHint")}
          act={t("common.delete")}
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

/** Whether the conversation is working or waiting for the person. */
function Sign({ status, waits }: { readonly status: ConversationView["status"]; readonly waits: boolean }) {
  // It waits without a decision: the change has expired, or a program has to respond.
  if (!waits && status === "awaiting_confirmation")
    return (
      <span title={t("shell.waitsIdle")} className="size-2 rounded-full border border-faint group-hover:invisible">
        <span className="sr-only">{t("shell.waitsIdle")}</span>
      </span>
    )
  if (waits)
    return (
      <span title={t("shell.waits")} className="size-2 rounded-full bg-warn group-hover:invisible">
        <span className="sr-only">{t("shell.waits")}</span>
      </span>
    )
  if (status === "running")
    return (
      <span title={t("shell.working")} className="pulse size-2 rounded-full bg-accent group-hover:invisible">
        <span className="sr-only">{t("shell.working")}</span>
      </span>
    )
  return null
}

function Rename({ id, title, onDone }: { readonly id: string; readonly title: string; readonly onDone: () => void }) {
  const [text, setText] = useState(title)
  const save = async () => {
    const name = text.trim()
    // The new name stays until the server has it.
    if (name !== "" && name !== title) await renameConversation(id, name)
    onDone()
  }
  return (
    <li>
      <Form onSubmit={save}>
        <OnlyField>
          <input
            autoFocus
            value={text}
            maxLength={200}
            aria-label={t("common.title")}
            onFocus={(event) => event.target.select()}
            onChange={(event) => setText(event.target.value)}
            onBlur={(event) => event.currentTarget.form?.requestSubmit()}
            onKeyDown={(event) => {
              if (event.key !== "Escape") return
              event.preventDefault()
              onDone()
            }}
            className="field h-9 px-2 text-sm"
          />
        </OnlyField>
      </Form>
    </li>
  )
}
