import { Popup } from "../../components/menu.tsx"
import { useState } from "react"
import { type Item, escapeHidden } from "../../../../client/index.ts"
import type { ReplySettings, ReplySettingsPatch } from "../../../../core/protocol/index.ts"
import { Sliders } from "../../components/icons.tsx"
import { Plain } from "../../components/plain.tsx"
import { catalogue } from "../../state/catalogue.ts"
import { useStore } from "../../state/store.ts"
import { SettingsForm } from "./settings-form.tsx"
import { settingNotes, settingsInShort } from "./settings-draft.ts"
import { t } from "../../strings/strings.ts"

interface SettingsPickerProps {
  readonly settings: ReplySettings
  /** Undefined for the server's choice. */
  readonly model: string | undefined
  readonly items?: readonly Item[]
  readonly side?: "top" | "bottom"
  /** Rejects with the error to show. */
  readonly onChange: (patch: ReplySettingsPatch) => Promise<unknown>
}

/** Shows the reply settings and opens their form. */
export function SettingsPicker({ settings, model, items = [], side = "top", onChange }: SettingsPickerProps) {
  const models = useStore(catalogue)?.models
  const [isOpen, setOpen] = useState(false)
  if (!models) return null
  const name = model ?? models.default ?? undefined
  const chosen = models.items.find((each) => each.name === name || each.aliases.includes(name ?? ""))
  const set = settingsInShort(settings)
  return (
    <Popup
      label={t("conversation.replySettings")}
      side={side}
      isOpen={isOpen}
      onOpenChange={setOpen}
      className="max-h-[var(--radix-popover-content-available-height)] w-[min(25rem,calc(100vw-1rem))] overflow-y-auto p-4"
      trigger={
        <button
          type="button"
          aria-label={t("conversation.replySettingsSet", {
            settings: set === "" ? t("conversation.default") : escapeHidden(set),
          })}
          title={t("conversation.replySettings")}
          className="flex h-8 max-w-56 min-w-0 items-center gap-1.5 rounded-lg px-2 text-[13px] text-soft hover:bg-sunken hover:text-ink"
        >
          <Sliders className="size-4 shrink-0" />
          {set !== "" && (
            <span className="truncate">
              <Plain text={set} />
            </span>
          )}
        </button>
      }
    >
      <SettingsForm
        settings={settings}
        notes={settingNotes(chosen, items)}
        onChange={onChange}
        onClose={() => setOpen(false)}
      />
    </Popup>
  )
}
