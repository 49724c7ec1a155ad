//! Running programs inside of containers.

use bollard::{
    container::LogOutput,
    exec::{StartExecOptions, StartExecResults},
    models::ExecConfig,
};
use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream::BoxStream};
use tokio::io::AsyncWriteExt as _;

use super::{Docker, DockerError};

/// What a program that ended left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// Its exit code.
    pub code: i64,
    /// What it printed, errors included.
    pub text: String,
}

fn config(command: &[&str], attach: bool, input: bool) -> ExecConfig {
    ExecConfig {
        attach_stdin: Some(input),
        attach_stdout: Some(attach),
        attach_stderr: Some(attach),
        cmd: Some(command.iter().map(|it| (*it).to_owned()).collect()),
        ..ExecConfig::default()
    }
}

impl Docker {
    /// Runs a program to its end.
    pub async fn run(&self, name: &str, command: &[&str]) -> Result<Output, DockerError> {
        self.execute(name, command, None).await
    }

    /// Runs a program that reads `input`, to its end.
    pub async fn run_with_input(
        &self,
        name: &str,
        command: &[&str],
        input: impl Stream<Item = Result<Bytes, DockerError>> + Send,
    ) -> Result<Output, DockerError> {
        self.execute(name, command, Some(input.boxed())).await
    }

    async fn execute(
        &self,
        name: &str,
        command: &[&str],
        input: Option<BoxStream<'_, Result<Bytes, DockerError>>>,
    ) -> Result<Output, DockerError> {
        let fail = |it| self.error("run a program in container", name, it);
        let exec = self.exec(name, config(command, true, input.is_some())).await?;
        let started = self
            .client()
            .await?
            .start_exec(&exec, None::<StartExecOptions>)
            .await;
        let StartExecResults::Attached {
            mut output,
            input: mut pipe,
        } = started.map_err(fail)?
        else {
            return Err(DockerError::refused(
                "run a program in container",
                name,
                "not attached",
            ));
        };
        let write = async {
            if let Some(mut input) = input {
                while let Some(part) = input.next().await {
                    // A program that has read enough closes its end; how it ended says whether that is well.
                    if pipe.write_all(&part?).await.is_err() {
                        break;
                    }
                }
                let _ = pipe.shutdown().await;
            }
            Ok::<(), DockerError>(())
        };
        let read = async {
            let mut bytes = Vec::new();
            while let Some(part) = output.next().await {
                bytes.extend_from_slice(&LogOutput::into_bytes(part.map_err(fail)?));
            }
            Ok::<String, DockerError>(String::from_utf8_lossy(&bytes).into_owned())
        };
        let (written, text) = futures::join!(write, read);
        written?;
        let ended = self.client().await?.inspect_exec(&exec).await.map_err(fail)?;
        Ok(Output {
            code: ended.exit_code.unwrap_or(-1),
            text: text?,
        })
    }

    /// Starts a program and leaves it alone.
    pub async fn detach(&self, name: &str, command: &[&str]) -> Result<(), DockerError> {
        let exec = self.exec(name, config(command, false, false)).await?;
        let options = StartExecOptions {
            detach: true,
            ..StartExecOptions::default()
        };
        let started = self.client().await?.start_exec(&exec, Some(options)).await;
        started
            .map(|_| ())
            .map_err(|it| self.error("start a program in container", name, it))
    }

    async fn exec(&self, name: &str, config: ExecConfig) -> Result<String, DockerError> {
        let made = self.client().await?.create_exec(name, config).await;
        made.map(|it| it.id)
            .map_err(|it| self.error("run a program in container", name, it))
    }
}
