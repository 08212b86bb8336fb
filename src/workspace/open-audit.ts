import { startExporter } from '../audit/exporter.ts';
import { fileMemory, processMemory } from '../audit/signer.ts';
import { auditSettings } from '../audit/sinks.ts';
import type { BotContext } from '../bot/context.ts';
import { tellOfAudit, tellOfExport } from '../bot/outbox/tell-admins.ts';
import type { OpenToolbox } from '../tools/toolbox/open-toolbox.ts';
import type { BotProcess, Installation } from './installation.ts';

/** Starts the export and the signatures of the audit log; the admins are told what fails. */
export function openAudit(
  { folder }: Installation,
  { settings, metrics, auditKey, audit, logger }: BotProcess,
  toolbox: OpenToolbox,
  context: BotContext,
): ReturnType<typeof startExporter> {
  const { auditFolder = folder, auditStateFile } = settings;
  return startExporter({
    ...audit,
    store: context.store,
    settings: () => auditSettings(toolbox.manifest.audit, auditFolder),
    key: auditKey,
    memory: auditStateFile === undefined ? processMemory() : fileMemory(auditStateFile),
    log: logger.child({ part: 'audit' }),
    onRefusal: (refusal, isNew) => {
      metrics.count('countersign_audit_refusals_total', { code: refusal.code });
      if (isNew) void tellOfAudit(context, refusal);
    },
    onExportFailure: (failure) => {
      metrics.count('countersign_audit_export_failures_total', { sink: failure.sink });
      void tellOfExport(context, failure);
    },
  });
}
