//! What other programs make of the tables, and the manifest of the Job.

use std::path::Path;
use std::process::Command;

use casefile_tests::bins::{self, ANALYZER, checkout};
use casefile_tests::s3::{has, python};
use k8s_openapi::api::batch::v1::Job;
use serde_json::Value;

use super::{BUNDLES, agrees_with, bundles, shards};
use crate::support::{ended, skip};

#[test]
fn duckdb_pandas_and_pyarrow_read_the_tables() {
    let test = "duckdb_pandas_and_pyarrow_read_the_tables";
    if !has("duckdb, pandas, pyarrow") {
        return skip(
            test,
            "python3 has no duckdb, pandas and pyarrow; CASEFILE_PYTHON names one that has",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    bundles(&input);
    shards(
        &input.display().to_string(),
        &output.display().to_string(),
        1,
    );
    let script = "import duckdb, pandas, pyarrow.dataset as ds, sys\n\
        t = sys.argv[1] + '/tables/'\n\
        print(duckdb.sql(f\"SELECT count(*), count(DISTINCT node) FROM '{t}bundles/*.parquet'\").fetchall()[0])\n\
        f = pandas.read_parquet(t + 'bundles')\n\
        print(len(f), str(f['finished'].dtype))\n\
        print(ds.dataset(t + 'settings').to_table().column_names[:6])\n";
    let done = Command::new(python())
        .args(["-c", script])
        .arg(&output)
        .output();
    let done = ended(done.unwrap());
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.out
            .starts_with(&format!("({BUNDLES}, {BUNDLES})\n{BUNDLES} datetime64")),
        "{}",
        done.out
    );
    assert!(
        done.out
            .contains("['bundle', 'n', 'node', 'cluster', 'scope', 'kind']"),
        "{}",
        done.out
    );
}

fn job() -> Job {
    let text =
        std::fs::read_to_string(checkout().join("analyzer/fleet/deploy/indexed-job.yaml")).unwrap();
    let value: Value = serde_saphyr::from_str(&text).unwrap();
    let job: Job = serde_json::from_value(value.clone()).unwrap();
    // A key that the API does not know is lost on the way through its types.
    let back = serde_json::to_value(&job).unwrap();
    assert_eq!(keys(&value), keys(&back));
    job
}

/// All paths of a value.
fn keys(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                all.push(name.clone());
                all.extend(
                    keys(value)
                        .into_iter()
                        .map(|below| format!("{name}.{below}")),
                );
            }
        }
        Value::Array(items) => all.extend(items.iter().flat_map(keys)),
        _ => {}
    }
    all.sort();
    all
}

#[test]
fn each_index_of_the_job_does_its_shard() {
    let spec = job().spec.unwrap();
    assert_eq!(spec.completion_mode.as_deref(), Some("Indexed"));
    assert_eq!(spec.backoff_limit_per_index, Some(3));
    let count = spec.completions.unwrap();
    let container = spec.template.spec.unwrap().containers.remove(0);
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    let truth = bundles(&input);
    for index in 0..count {
        let own = container.args.iter().flatten();
        let own = own.map(|one| one.replace("$(JOB_COMPLETION_INDEX)", &index.to_string()));
        as_there(&own.collect::<Vec<_>>(), &input, &output);
    }
    agrees_with(&truth, &output);
}

/// Runs the analyzer with arguments of a manifest, with folders in the place of buckets.
fn as_there(arguments: &[String], input: &Path, output: &Path) {
    let arguments = arguments.iter().map(|one| match one.as_str() {
        one if one.starts_with("s3://casefile/nights/") => input.display().to_string(),
        one if one.starts_with("s3://casefile/tables/") => output.display().to_string(),
        one => one.to_owned(),
    });
    let done = Command::new(bins::find(ANALYZER)).args(arguments).output();
    let done = ended(done.unwrap());
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
}

#[test]
fn a_workflow_of_argo_and_an_array_of_slurm_do_the_shards() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    let truth = bundles(&input);
    let deploy = checkout().join("analyzer/fleet/deploy");
    let workflow: Value =
        serde_saphyr::from_str(&std::fs::read_to_string(deploy.join("argo.yaml")).unwrap())
            .unwrap();
    let arguments = |template: usize| -> Vec<String> {
        serde_json::from_value(workflow["spec"]["templates"][template]["container"]["args"].clone())
            .unwrap()
    };
    for index in 0..8 {
        let own = arguments(1)
            .into_iter()
            .map(|one| one.replace("{{inputs.parameters.index}}", &index.to_string()));
        as_there(&own.collect::<Vec<_>>(), &input, &output);
    }
    as_there(&arguments(2), &input, &output);
    agrees_with(&truth, &output);
    let array = folder.path().join("array");
    for index in 0..2 {
        let done = Command::new("bash")
            .arg(deploy.join("slurm.sh"))
            .args([&input, &array])
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", bins::folder().display()),
            )
            .env("SLURM_ARRAY_TASK_ID", index.to_string())
            .env("SLURM_ARRAY_TASK_COUNT", "2")
            .env("SLURM_CPUS_PER_TASK", "1")
            .output();
        let done = ended(done.unwrap());
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    }
    agrees_with(&truth, &array);
}
