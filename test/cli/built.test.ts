import { actSuite } from './act-suite.ts';
import { lookSuite } from './look-suite.ts';
import { type Scene, startScene } from './scene.ts';

describe('the built command, on a host with two machines:', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene();
  }, 240_000);
  afterAll(() => scene?.close());

  lookSuite(() => scene);
  actSuite(() => scene);
});
