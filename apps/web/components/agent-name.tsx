import { BookOpenText, Bot, ChartColumn, CheckSquare, FolderCode, type Icon } from "./icons.tsx"
import { Plain } from "./plain.tsx"
import { humanName } from "../../../client/index.ts"

/** Agents of other packs share an icon. */
const ICONS = new Map<string, Icon>(
  Object.entries({
    workspace: CheckSquare,
    analyst: ChartColumn,
    research: BookOpenText,
    files: FolderCode,
  }),
)

interface AgentProps {
  readonly agent: string
  readonly className?: string
}

/** The agent of a conversation. */
export function AgentName({ agent }: AgentProps) {
  return (
    <p className="flex items-center gap-1.5 text-xs leading-tight text-faint">
      <AgentMark agent={agent} className="size-3" />
      <span className="truncate">
        <Plain text={humanName(agent)} />
      </span>
    </p>
  )
}

/** The icon alone, if the name is next to it or in its label. */
export function AgentMark({ agent, className = "" }: AgentProps) {
  const Icon = ICONS.get(agent) ?? Bot
  return <Icon className={`shrink-0 ${className}`} aria-hidden="true" />
}
