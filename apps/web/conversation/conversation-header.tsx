import { memo, useState } from "react"
import { grantName } from "../../../client/index.ts"
import { Archive, History, Key, Pencil, Trash } from "../components/icons.tsx"
import { AgentName } from "../components/agent-name.tsx"
import { Button } from "../components/button.tsx"
import { Confirm, Dialog } from "../components/dialog.tsx"
import { attempt } from "../components/explain.ts"
import { Form, OnlyField, SubmitButton } from "../components/form.tsx"
import { MenuItem, MenuLine, MenuLink, MoreMenu } from "../components/menu.tsx"
import { Plain } from "../components/plain.tsx"
import { useLoaded } from "../components/use-loaded.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { client } from "../state/client.ts"
import type { OpenConversation } from "../state/conversation.ts"
import { deleteConversation, renameConversation } from "../state/feed.ts"
import { navigate } from "../state/router.ts"
import { t } from "../strings/strings.ts"
import { ConnectionPicker, asksDatabases } from "./composer/connection-picker.tsx"
import { compact } from "./composer/context-meter.tsx"

interface ConversationHeaderProps {
  readonly conversation: OpenConversation
  readonly title: string
  readonly agent: string | null
  readonly connectionId: string | null
}

export const ConversationHeader = memo(function ConversationHeader({
  conversation: { id },
  title,
  agent,
  connectionId,
}: ConversationHeaderProps) {
  const [shown, setShown] = useState<"rename" | "grants" | "delete" | undefined>()
  const close = () => setShown(undefined)
  return (
    <PageHeader title={title} under={agent && <AgentName agent={agent} />}>
      {(asksDatabases(agent) || connectionId !== null) && (
        <ConnectionPicker
          value={connectionId}
          onChoose={(chosen) =>
            void attempt(() => client.changeConversation({ params: { id }, body: { connectionId: chosen } }))
          }
        />
      )}
      <MoreMenu label={t("conversation.moreForThis")}>
        <MenuItem icon={<Pencil />} onSelect={() => setShown("rename")}>
          {t("common.rename")}
        </MenuItem>
        <MenuItem icon={<Key />} onSelect={() => setShown("grants")}>
          {t("proposal.grants")}
        </MenuItem>
        <MenuLink icon={<History />} to={`/c/${id}/runs`}>
          {t("conversation.runs")}
        </MenuLink>
        <MenuItem icon={<Archive />} onSelect={() => void compact(id)}>
          {t("conversation.summarize")}
        </MenuItem>
        <MenuLine />
        <MenuItem icon={<Trash />} danger onSelect={() => setShown("delete")}>
          {t("common.delete")}
        </MenuItem>
      </MoreMenu>
      {shown === "rename" && <RenameDialog id={id} title={title} onClose={close} />}
      {shown === "grants" && <GrantsDialog conversationId={id} onClose={close} />}
      {shown === "delete" && (
        <Confirm
          title={t("shell.deleteConversation")}
          says={t("shell.deleteConversationHint")}
          act={t("common.delete")}
          onClose={close}
          onAct={() => {
            close()
            void attempt(() => deleteConversation(id)).then((done) => done && navigate("/"))
          }}
        />
      )}
    </PageHeader>
  )
})

interface GrantsDialogProps {
  readonly conversationId: string
  readonly onClose: () => void
}

/** The approvals given in advance in a conversation, each with a button to revoke it. */
function GrantsDialog({ conversationId, onClose }: GrantsDialogProps) {
  const { value, reload, trouble } = useLoaded(() => client.listGrants({ params: { id: conversationId } }))
  const grants = value?.items
  const revoke = async (tool: string) => {
    await attempt(() => client.revokeGrant({ params: { id: conversationId, tool } }))
    await reload()
  }
  return (
    <Dialog title={t("proposal.grants")} onClose={onClose}>
      {trouble}
      {grants?.length === 0 && <p className="mb-4 text-sm text-soft">{t("proposal.noGrants")}</p>}
      <ul className="mb-4 space-y-2">
        {grants?.map(({ tool, left, uses, ...of }) => (
          <li key={`${tool} ${of.prefix ?? of.commandLine ?? ""}`} className="flex items-center gap-3 text-sm">
            <span className="flex-1">
              <Plain text={grantName({ tool, ...of })} />
              <span className="block text-[13px] text-faint">{t("proposal.usesLeft", { left, uses })}</span>
            </span>
            <Button small onClick={() => void revoke(tool)}>
              {t("proposal.revoke")}
            </Button>
          </li>
        ))}
      </ul>
      <div className="flex justify-end">
        <Button onClick={onClose}>{t("common.close")}</Button>
      </div>
    </Dialog>
  )
}

interface RenameDialogProps {
  readonly id: string
  readonly title: string
  readonly onClose: () => void
}

function RenameDialog({ id, title, onClose }: RenameDialogProps) {
  const [text, setText] = useState(title)
  const name = text.trim()
  return (
    <Dialog title={t("common.rename")} onClose={onClose}>
      <Form
        onSubmit={async () => {
          if (name === "") return
          // The new name stays until the server has it.
          if (name !== title) await renameConversation(id, name)
          onClose()
        }}
      >
        <OnlyField>
          <input
            autoFocus
            aria-label={t("common.title")}
            maxLength={200}
            value={text}
            onFocus={(event) => event.target.select()}
            onChange={(event) => setText(event.target.value)}
            className="field"
          />
        </OnlyField>
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <SubmitButton look="main" disabled={name === ""}>
            {t("common.save")}
          </SubmitButton>
        </div>
      </Form>
    </Dialog>
  )
}
