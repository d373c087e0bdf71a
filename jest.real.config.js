import base from './jest.config.js';

/** @type {import('jest').Config} */
export default {
  ...base,
  testMatch: ['<rootDir>/test/real/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.BAMEL_TEST_JOBS ? [] : ['\\.job\\.test\\.ts$'])],
  testTimeout: 180_000,
};
