import { Database, Plus } from "../../components/icons.tsx"
import { loadConnections, useConnections, whereOf } from "../../state/connections.ts"
import { type Choice, Menu, MenuChoices, MenuLine, MenuLink } from "../../components/menu.tsx"
import { Plain } from "../../components/plain.tsx"
import { escapeHidden } from "../../../../client/index.ts"
import { useAutoRetry } from "../../state/auto-retry.ts"
import { t } from "../../strings/strings.ts"

/** Agents that work on a database; the others need no choice. */
export const asksDatabases = (agent: string | null | undefined): boolean => agent === "analyst"

interface ConnectionPickerProps {
  /** Null if none is chosen. */
  readonly value: string | null
  readonly onChoose: (id: string | null) => void
  readonly side?: "top" | "bottom"
}

const NONE = ""

/** Selects the database of a conversation. */
export function ConnectionPicker({ value, onChoose, side = "bottom" }: ConnectionPickerProps) {
  const { items = [], problem } = useConnections()
  useAutoRetry(problem, loadConnections)
  const chosen = items.find(({ id }) => id === value)
  const name = chosen?.name ?? t(value === null ? "conversation.noDatabase" : "conversation.deletedDatabase")
  const choices: Choice<string>[] = [
    ...items.map((connection) => ({
      value: connection.id as string,
      name: <Plain text={connection.name} />,
      says: <Plain text={whereOf(connection)} />,
    })),
    { value: NONE, name: t("conversation.noDatabase") },
  ]
  return (
    <Menu
      side={side}
      align={side === "top" ? "start" : "end"}
      trigger={
        <button
          type="button"
          aria-label={t("conversation.databaseNamed", { name: escapeHidden(name) })}
          onPointerDown={() => void loadConnections()}
          className={`flex h-8 min-w-0 items-center gap-1.5 rounded-lg px-2 text-[13px] hover:bg-sunken hover:text-ink ${chosen ? "text-soft" : "text-warn"}`}
        >
          <Database className="size-3.5 shrink-0" aria-hidden="true" />
          <span className="max-w-48 truncate">
            <Plain text={name} />
          </span>
        </button>
      }
    >
      <MenuChoices
        label={t("conversation.database")}
        value={chosen?.id ?? NONE}
        choices={choices}
        onChoose={(id) => onChoose(id === NONE ? null : id)}
      />
      <MenuLine />
      <MenuLink icon={<Plus />} to="/settings/connections">
        {t("conversation.connectDatabase")}
      </MenuLink>
    </Menu>
  )
}
