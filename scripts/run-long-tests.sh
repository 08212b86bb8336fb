# Runs at full length the tests that the normal run shortens.
set -eu
export COUNTERSIGN_PROPERTY_RUNS=500 COUNTERSIGN_COMPARISON_RUNS=1000 COUNTERSIGN_RACE_ROUNDS=500
export COUNTERSIGN_RENDER_RUNS=10000 COUNTERSIGN_LOST_REPLY_ROUNDS=50 COUNTERSIGN_HOSTILE_EVERY=1
npx vitest run test/agent/property.test.ts test/store/comparison.test.ts test/store/races.test.ts \
  test/store/lost-replies.test.ts test/bot/cards/rendering-is-total.test.ts test/hostile
