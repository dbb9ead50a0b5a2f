const t=Date.now();
const { bundleFunctions, bundleSizes } = await import("/work/main/infra/bundle.ts");
const t1=Date.now(); await bundleFunctions(); console.log("import",t1-t,"bundle", Date.now()-t1);
console.table(await bundleSizes());
