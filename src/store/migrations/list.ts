import { journal } from "./001-journal.ts"
import { tasks } from "./002-tasks.ts"
import { signIn } from "./003-sign-in.ts"
import { audit } from "./004-audit.ts"
import { secretsAndUsage } from "./005-secrets-and-usage.ts"
import { deliveries } from "./006-deliveries.ts"
import { messageKeys } from "./007-message-keys.ts"
import { devices } from "./008-devices.ts"
import { appliedCallPerson } from "./009-applied-call-person.ts"
import { workspace } from "./010-workspace.ts"
import { noteVectors } from "./011-note-vectors.ts"
import { connections } from "./012-connections.ts"
import { conversationSettings } from "./042-conversation-settings.ts"
import { conversationConnection } from "./013-conversation-connection.ts"
import { queryResults } from "./014-query-results.ts"
import { statementAttempts } from "./015-statement-attempts.ts"
import { library } from "./016-library.ts"
import { nodeBeats } from "./017-node-beats.ts"
import { erasedIdentities } from "./018-erased-identities.ts"
import { tokenLineage } from "./019-token-lineage.ts"
import { seenProposals } from "./020-seen-proposals.ts"
import { deviceOwners } from "./021-device-owners.ts"
import { deaths } from "./022-deaths.ts"
import { pageSecrets } from "./023-page-secrets.ts"
import { lastConversation } from "./024-last-conversation.ts"
import { passageGrams } from "./025-passage-grams.ts"
import { days } from "./026-days.ts"
import { documentHash } from "./027-document-hash.ts"
import { embeddingClaims } from "./028-embedding-claims.ts"
import { noteClaims } from "./029-note-claims.ts"
import { tablesOfPacks } from "./030-tables-of-packs.ts"
import { news } from "./031-news.ts"
import { connectedDevices } from "./032-connected-devices.ts"
import { nodeMail } from "./033-node-mail.ts"
import { keptFiles } from "./034-kept-files.ts"
import { earmarks } from "./035-earmarks.ts"
import { buckets } from "./036-buckets.ts"
import { nodeSight } from "./037-node-sight.ts"
import { whatNeedsANewerVersion } from "./038-what-needs-a-newer-version.ts"
import { eventsKnown } from "./039-events-known.ts"
import { eventPartitions } from "./040-event-partitions.ts"
import { usageOfConversations } from "./041-usage-of-conversations.ts"
import { messageFiles } from "./043-message-files.ts"
import { filesInAFolder } from "./044-files-in-a-folder.ts"
import { mcp } from "./045-mcp.ts"
import { authorizationCodes } from "./046-authorization-codes.ts"
import { issuerIdentities } from "./047-issuer-identities.ts"
import { mcpSignIns } from "./048-mcp-sign-ins.ts"
import { sessionsOfIssuers } from "./049-sessions-of-issuers.ts"
import type { Migration } from "./migration.ts"

/** The schema, step by step, in the order of the files: what is new is added at the end, and nothing is taken out. */
export const migrations: readonly Migration[] = [
  journal,
  tasks,
  signIn,
  audit,
  secretsAndUsage,
  deliveries,
  messageKeys,
  devices,
  appliedCallPerson,
  workspace,
  noteVectors,
  connections,
  conversationConnection,
  queryResults,
  statementAttempts,
  library,
  nodeBeats,
  erasedIdentities,
  tokenLineage,
  seenProposals,
  deviceOwners,
  deaths,
  pageSecrets,
  lastConversation,
  passageGrams,
  days,
  documentHash,
  embeddingClaims,
  noteClaims,
  tablesOfPacks,
  news,
  connectedDevices,
  nodeMail,
  keptFiles,
  earmarks,
  buckets,
  nodeSight,
  whatNeedsANewerVersion,
  eventsKnown,
  eventPartitions,
  usageOfConversations,
  conversationSettings,
  messageFiles,
  filesInAFolder,
  mcp,
  authorizationCodes,
  issuerIdentities,
  mcpSignIns,
  sessionsOfIssuers,
]
