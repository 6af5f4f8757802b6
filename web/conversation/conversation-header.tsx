import { History } from "../icons/arrows.ts"
import { Archive, Key, Pencil, Trash } from "../icons/things.ts"
import { memo, useState } from "react"
import { Confirm } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { MenuItem, MenuLine, MoreMenu } from "../parts/menu.tsx"
import { GrantsDialog } from "../proposal/grants-dialog.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { RenameDialog } from "../shell/rename-dialog.tsx"
import type { OpenConversation } from "../state/conversation.ts"
import { client } from "../state/client.ts"
import { deleteConversation } from "../state/feed.ts"
import { navigate } from "../state/router.ts"
import { AgentName } from "../parts/agent-name.tsx"
import { sumUp } from "./composer/sum-up.ts"
import { asksDatabases, ConnectionPicker } from "./composer/connection-picker.tsx"

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
      <MoreMenu label="More for this conversation">
        <MenuItem icon={<Pencil />} onSelect={() => setShown("rename")}>
          Rename
        </MenuItem>
        <MenuItem icon={<Key />} onSelect={() => setShown("grants")}>
          What it may do without asking
        </MenuItem>
        <MenuItem icon={<History />} onSelect={() => navigate(`/c/${id}/runs`)}>
          What happened in its runs
        </MenuItem>
        <MenuItem icon={<Archive />} onSelect={() => void sumUp(id)}>
          Sum up what was said
        </MenuItem>
        <MenuLine />
        <MenuItem icon={<Trash />} danger onSelect={() => setShown("delete")}>
          Delete
        </MenuItem>
      </MoreMenu>
      {shown === "rename" && <RenameDialog id={id} title={title} onClose={close} />}
      {shown === "grants" && <GrantsDialog conversationId={id} onClose={close} />}
      {shown === "delete" && (
        <Confirm
          title="Delete this conversation?"
          says="Everything said in it will be erased. What was changed through it stays changed."
          act="Delete"
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
