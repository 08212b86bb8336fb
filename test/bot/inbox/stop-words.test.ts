import { expect, test } from 'vitest';
import { isStop } from '../../../src/bot/inbox/stop-thread.ts';

test.each([
  ...['stop', 'Stop!', 'STOP.', 'please stop', 'Stop it, please!', 'stop now', 'cancel', 'Cancel that.'],
  ...['stopp', 'Bitte stoppen', 'Hör auf!', 'Abbrechen bitte', 'arrête', 'Arrêtez s’il vous plaît'],
  ...['¡Para, por favor!', 'detente', 'pare', 'fermati', 'Stop alsjeblieft', 'стоп'],
  ...['ストップ', '止めてください', '停止', '请停止', '取消', '중지', '그만해주세요'],
])('%s stops', (text) => {
  expect(isStop(text)).toBe(true);
});

test.each([
  ...['', 'please', 'bitte', 'stop the deployment of checkout', 'cancel order A-1001', 'do not stop'],
  ...['never stop', 'stop?', 'don’t cancel it', 'annule la commande A-1001', 'バスはストップですか'],
])('%s is an instruction, and stops nothing', (text) => {
  expect(isStop(text)).toBe(false);
});
