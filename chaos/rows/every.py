"""Every row of the scorecard, in its order."""

from collections.abc import Sequence

from chaos.card import Row
from chaos.rows import (
    r01_service_crash,
    r02_store_crash,
    r03_power_cut,
    r04_redelivery,
    r05_order,
    r06_valid_history,
    r07_reset,
    r08_isolation,
    r09_index,
    r10_model,
    r11_sends,
    r12_hostile_webhook,
    r13_overload,
    r14_store_refuses,
    r15_poison,
    r16_deploy,
    r17_cluster,
    r18_injection,
    r19_secrets,
    r20_soak,
    r21_facts,
    r22_reminders,
)

ROWS: Sequence[Row] = (
    r01_service_crash.ROW,
    r02_store_crash.ROW,
    r03_power_cut.ROW,
    r04_redelivery.ROW,
    r05_order.ROW,
    r06_valid_history.ROW,
    r07_reset.ROW,
    r08_isolation.ROW,
    r09_index.ROW,
    r10_model.ROW,
    r11_sends.ROW,
    r12_hostile_webhook.ROW,
    r13_overload.ROW,
    r14_store_refuses.ROW,
    r15_poison.ROW,
    r16_deploy.ROW,
    r17_cluster.ROW,
    r18_injection.ROW,
    r19_secrets.ROW,
    r20_soak.ROW,
    r21_facts.ROW,
    r22_reminders.ROW,
)
